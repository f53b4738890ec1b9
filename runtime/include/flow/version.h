/* version.h: which flow this is: numbers with points, compared from the left. The first is raised when
 * scripts of before may mean something else, the second when something was added, the third when something
 * was mended. */
#ifndef FLOW_VERSION_H
#define FLOW_VERSION_H

#define FL_FLOW_VERSION "0.2.0"

#endif
