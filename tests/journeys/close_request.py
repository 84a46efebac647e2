"""Asks windows to close, as a click on their cross does: `close_request.py WINDOW...` (numbers as xdotool prints them).

There is no window manager on the test's screen, so that the message that one would send is sent here (ICCCM 4.2.8).
"""
import ctypes
import sys


class ClientMessage(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int),
        ("serial", ctypes.c_ulong),
        ("send_event", ctypes.c_int),
        ("display", ctypes.c_void_p),
        ("window", ctypes.c_ulong),
        ("message_type", ctypes.c_ulong),
        ("format", ctypes.c_int),
        ("data", ctypes.c_long * 5),
        ("room_of_other_events", ctypes.c_long * 16),
    ]


CLIENT_MESSAGE = 33
x = ctypes.CDLL("libX11.so.6")
x.XOpenDisplay.restype = ctypes.c_void_p
x.XInternAtom.restype = ctypes.c_ulong
x.XInternAtom.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int]
x.XSendEvent.argtypes = [ctypes.c_void_p, ctypes.c_ulong, ctypes.c_int, ctypes.c_long, ctypes.c_void_p]
x.XSync.argtypes = [ctypes.c_void_p, ctypes.c_int]
display = x.XOpenDisplay(None)
protocols = x.XInternAtom(display, b"WM_PROTOCOLS", 0)
delete = x.XInternAtom(display, b"WM_DELETE_WINDOW", 0)
for number in map(int, sys.argv[1:]):
    event = ClientMessage(type=CLIENT_MESSAGE, window=number, message_type=protocols, format=32)
    event.data[0] = delete
    x.XSendEvent(display, number, 0, 0, ctypes.byref(event))
x.XSync(display, 0)
