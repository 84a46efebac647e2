"""A small window that files can be dragged from: `drag_source.py X Y FILE...`; prints `ready` when shown.

It ends by itself when the drag has ended, printing how: `dropped` or `failed`.
"""
import pathlib
import sys

import gi

gi.require_version("Gtk", "3.0")
gi.require_version("Gdk", "3.0")
from gi.repository import Gdk, GLib, Gtk  # noqa: E402

x, y, *files = sys.argv[1:]
uris = [pathlib.Path(file).resolve().as_uri() for file in files]

# A popup needs no window manager and stays above the window that is tested.
window = Gtk.Window(type=Gtk.WindowType.POPUP)
window.set_default_size(60, 60)
window.move(int(x), int(y))
box = Gtk.EventBox()
box.add(Gtk.Label(label="drag"))
window.add(box)
box.drag_source_set(Gdk.ModifierType.BUTTON1_MASK, [], Gdk.DragAction.COPY)
box.drag_source_add_uri_targets()
outcome = {"word": "dropped"}


def hand_over(_widget, _context, data, _info, _time):
    data.set_uris(uris)


def failed(_widget, _context, _result):
    outcome["word"] = "failed"
    return False


def ended(_widget, _context):
    print(outcome["word"], flush=True)
    GLib.idle_add(Gtk.main_quit)


box.connect("drag-data-get", hand_over)
box.connect("drag-failed", failed)
box.connect("drag-end", ended)
window.connect("map-event", lambda *_: print("ready", flush=True))
window.show_all()
Gtk.main()
