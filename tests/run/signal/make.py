"""Computes data/expected.npz: a signal of two waves and noise, and what scipy.signal gives for it.
Run: python3 tests/run/signal/make.py (numpy and scipy 1.17 are needed)."""
import pathlib

import numpy as np
from scipy import signal

t = np.arange(701)
x = np.sin(0.31 * t) + 0.4 * np.sin(1.3 * t + 1) + 0.3 * np.random.default_rng(1).standard_normal(701) + 0.002 * t
h = np.random.default_rng(2).standard_normal(150)
fs = 50.0
out = {"x": x, "h": h}

for name in ("hann", "hamming", "blackman"):
    for n in (16, 17):
        out[f"{name}{n}"] = signal.get_window(name, n)
        out[f"{name}{n}_symmetric"] = getattr(signal.windows, name)(n)
for n in (700, 701):
    out[f"detrend{n}"] = signal.detrend(x[:n])
    out[f"periodogram{n}"] = np.stack(signal.periodogram(x[:n], fs))
    out[f"welch{n}"] = np.stack(signal.welch(x[:n], fs, nperseg=200))
    out[f"welch_odd{n}"] = np.stack(signal.welch(x[:n], fs, window="blackman", nperseg=131, noverlap=100))
    f, at, z = signal.stft(x[:n], fs, nperseg=100)
    out[f"stft{n}_re"], out[f"stft{n}_im"], out[f"stft{n}_time"] = z.T.real, z.T.imag, at
    f, at, p = signal.spectrogram(x[:n], fs, window="hann", nperseg=128)
    out[f"spectrogram{n}"], out[f"spectrogram{n}_time"] = p.T, at
    out[f"envelope{n}"] = np.abs(signal.hilbert(x[:n]))
    out[f"hilbert{n}"] = np.imag(signal.hilbert(x[:n]))
    for k in (280, 281, 700, 840, 841):
        out[f"resample{n}_{k}"] = signal.resample(x[:n], k)
for mode in ("full", "same", "valid"):
    out[f"convolve_{mode}"] = signal.convolve(x, h, mode, method="direct")
    out[f"correlate_{mode}"] = signal.correlate(x, h[:40], mode, method="direct")
for order in (1, 2, 3, 4, 7):
    for kind, band in (("low", 4.0), ("high", 9.0), ("band", (3.0, 8.0)), ("stop", (3.0, 17.0))):
        sos = signal.butter(order, band, {"low": "lowpass", "high": "highpass", "band": "bandpass", "stop": "bandstop"}[kind], fs=fs, output="sos")
        out[f"sosfilt_{kind}{order}"] = signal.sosfilt(sos, x)
        out[f"sosfiltfilt_{kind}{order}"] = signal.sosfiltfilt(sos, x)
out["lfilter"] = signal.lfilter([0.2, 0.3, 0.1], [2.0, -0.8, 0.3, 0.1], x)
out["firwin"] = np.concatenate([signal.firwin(31, 0.3), signal.firwin(30, 0.7)])
for q in (2, 5):
    out[f"decimate{q}"] = signal.decimate(x, q, ftype="fir")
flat = np.round(x[:400] * 2)
out["flat"] = flat
out["peaks"] = signal.find_peaks(x)[0]
out["peaks_high"] = signal.find_peaks(x, height=1.5)[0]
out["peaks_apart"] = signal.find_peaks(x, distance=25)[0]
out["peaks_prominent"] = signal.find_peaks(x, prominence=1.2)[0]
out["peaks_all"] = signal.find_peaks(x, height=0.5, distance=10, prominence=0.8)[0]
out["peaks_flat"] = signal.find_peaks(flat)[0]
out["prominences"] = signal.peak_prominences(x, out["peaks"])[0]
np.savez_compressed(pathlib.Path(__file__).parent / "data/expected.npz", **out)
