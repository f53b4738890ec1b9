/* bandwidth.h: how fast this machine reads and writes memory. */
#ifndef FL_CLI_BANDWIDTH_H
#define FL_CLI_BANDWIDTH_H

/* Bytes a second, read and written, of so many threads that copy arrays of doubles which no cache holds: Copy
 * of STREAM (J. D. McCalpin, Memory Bandwidth and Machine Balance in Current High Performance Computers,
 * 1995), which counts 16 bytes an element and takes the best of several times. Takes some
 * tenths of a second.
 * 0: there is no memory, or are no threads, for it. */
double fl_bandwidth_measure(int threads);

#endif
