"""Read an XSpace capture (*.xplane.pb) straight from its wire format, with the standard library alone.

load(data) gives the planes as plain objects: names resolved, every time in picoseconds as it is written
(line base * 1000 + offset).  Nothing is interpreted here; see oracle.py.

Field numbers.  XSpace: 1 planes, 4 hostnames.  XPlane: 2 name, 3 lines, 4 event metadata, 5 stat metadata,
6 stats.  XLine: 1 id, 2 name, 3 timestamp_ns, 4 events, 11 display_name.  XEvent: 1 metadata, 2 offset_ps,
3 duration_ps, 4 stats.  XStat: 1 metadata, 2 double, 3 uint64, 4 int64, 5 string, 6 bytes, 7 reference.
XEventMetadata: 2 name, 4 display_name, 5 stats.  HloProto: 1 module.  HloModuleProto: 1 name,
3 computations, 5 id; HloComputationProto: 2 instructions; HloInstructionProto: 1 name, 2 opcode,
7 metadata; OpMetadata: 2 op_name.
"""
import struct


class Truncated(ValueError):
    """The data end inside a record."""


def varint(data, pos, end):
    value = shift = 0
    while True:
        if pos >= end:
            raise Truncated("data end at byte %d" % pos)
        byte = data[pos]
        pos += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, pos
        shift += 7
        if shift > 63:
            raise ValueError("bad varint at byte %d" % pos)


def records(data):
    """Yield (field number, value): an int for varints, bytes for all else."""
    pos, end = 0, len(data)
    while pos < end:
        key, pos = varint(data, pos, end)
        kind = key & 7
        if kind == 0:
            value, pos = varint(data, pos, end)
        else:
            if kind == 2:
                size, pos = varint(data, pos, end)
            elif kind in (1, 5):
                size = 8 if kind == 1 else 4
            else:
                raise ValueError("wire type %d at byte %d" % (kind, pos))
            if pos + size > end:
                raise Truncated("data end at byte %d" % end)
            value = data[pos:pos + size]
            pos += size
        yield key >> 3, value


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def text(raw):
    return raw.decode("utf-8", "backslashreplace")


class Event:
    __slots__ = ("name", "display", "start", "dur", "own", "stats", "line")

    @property
    def end(self):
        return self.start + self.dur


class Line:
    def __init__(self, name, base_ns, events):
        self.name, self.base_ns, self.events = name, base_ns, events


class Plane:
    def __init__(self, name, lines, stats, metadata):
        self.name, self.lines, self.stats, self.metadata = name, lines, stats, metadata


def map_entry(raw):
    key, body = 0, b""
    for field, value in records(raw):
        if field == 1:
            key = signed(value)
        elif field == 2:
            body = value
    return key, body


def read_stats(raw_stats, names):
    out = {}
    for raw in raw_stats:
        key = value = None
        for field, v in records(raw):
            if field == 1:
                key = names.get(signed(v), "?%d" % signed(v))
            elif field == 2:
                value = struct.unpack("<d", v)[0]
            elif field == 3:
                value = v
            elif field == 4:
                value = signed(v)
            elif field == 5:
                value = text(v)
            elif field == 6:
                value = v
            elif field == 7:
                value = names.get(v, "?%d" % v)
        out[key] = value
    return out


def read_line(raw, metadata, names):
    name = display = ""
    base, raw_events = 0, []
    for field, value in records(raw):
        if field == 2:
            name = text(value)
        elif field == 3:
            base = signed(value)
        elif field == 4:
            raw_events.append(value)
        elif field == 11:
            display = text(value)
    line = Line(display or name, base, [])
    for raw_event in raw_events:
        meta = offset = dur = 0
        raw_stats = []
        for field, value in records(raw_event):
            if field == 1:
                meta = signed(value)
            elif field == 2:
                offset = signed(value)
            elif field == 3:
                dur = signed(value)
            elif field == 4:
                raw_stats.append(value)
        event = Event()
        event.name, event.display, shared = metadata.get(meta, ("?%d" % meta, "", {}))[:3]
        event.start, event.dur, event.line = base * 1000 + offset, dur, line
        event.own = read_stats(raw_stats, names)
        event.stats = {**shared, **event.own} if shared else event.own
        line.events.append(event)
    return line


def read_plane(raw):
    name, lines, events, stat_names, stats = "", [], {}, {}, []
    for field, value in records(raw):
        if field == 2:
            name = text(value)
        elif field == 3:
            lines.append(value)
        elif field == 4:
            key, body = map_entry(value)
            events[key] = body
        elif field == 5:
            key, body = map_entry(value)
            stat_names[key] = next((text(v) for f, v in records(body) if f == 2), "")
        elif field == 6:
            stats.append(value)
    metadata = {}
    for key, body in events.items():
        found = {2: b"", 4: b""}
        own = []
        for field, value in records(body):
            if field == 5:
                own.append(value)
            elif field in found:
                found[field] = value
        metadata[key] = (text(found[2]), text(found[4]), read_stats(own, stat_names), key)
    return Plane(name, [read_line(line, metadata, stat_names) for line in lines],
                 read_stats(stats, stat_names), metadata)


def load(data, partial=False):
    """(planes, host names); with partial=True the whole planes before the cut of a truncated file."""
    planes, hosts = [], []
    try:
        for field, value in records(data):
            if field == 1:
                planes.append(read_plane(value))
            elif field == 4:
                hosts.append(text(value))
    except Truncated:
        if not partial:
            raise
    return planes, hosts


def hlo_module(data):
    """(module name, {instruction name: (opcode, op_name)}) of an HloProto; the first of equal names wins."""
    name, found = "", {}
    for field, module in records(data):
        if field != 1:
            continue
        for f, value in records(module):
            if f == 1:
                name = text(value)
            if f != 3:
                continue
            for g, instruction in records(value):
                if g != 2:
                    continue
                inst = opcode = op_name = ""
                for h, v in records(instruction):
                    if h == 1:
                        inst = text(v)
                    elif h == 2:
                        opcode = text(v)
                    elif h == 7:
                        op_name = next((text(m) for k, m in records(v) if k == 2), "")
                found.setdefault(inst, (opcode, op_name))
    return name, found
