"""Hold our messages of tensorflow.ProfilerService against Python's protobuf.

    messages.py PROFILE_MESSAGES

The messages are declared here, out of upstream's profiler_service.proto and profiler_options.proto, as a table; protobuf
builds its classes from it.  Random messages must come back from our program as they were, but for the fields that no
server reads (tools, tool_options, monitor_result), and replies must be told as protobuf wrote them.
"""
import random
import subprocess
import sys

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

# message: {field: (number, type)}; "*" repeated, "T>" a map from text, "|" a member of the message's only oneof
MESSAGES = {
    "Value": {"string_value": (1, "|string"), "bool_value": (2, "|bool"), "int64_value": (3, "|int64")},
    "TraceOptions": {"host_traceme_filter_mask": (1, "uint64")},
    "ProfileOptions": {
        "include_dataset_ops": (1, "bool"), "host_tracer_level": (2, "uint32"), "device_tracer_level": (3, "uint32"),
        "python_tracer_level": (4, "uint32"), "version": (5, "uint32"), "device_type": (6, "int32"),
        "enable_hlo_proto": (7, "bool"), "start_timestamp_ns": (8, "uint64"), "duration_ms": (9, "uint64"),
        "repository_path": (10, "string"), "trace_options": (11, "TraceOptions"),
        "advanced_configuration": (12, "T>Value"), "raise_error_on_start_failure": (13, "bool"),
        "session_id": (14, "string"), "override_hostname": (15, "string")},
    "ToolRequestOptions": {"output_formats": (2, "string"), "save_to_repo": (3, "bool")},
    "ProfileRequest": {
        "duration_ms": (1, "uint64"), "max_events": (2, "uint64"), "tools": (3, "*string"), "opts": (4, "ProfileOptions"),
        "repository_root": (5, "string"), "session_id": (6, "string"), "host_name": (7, "string"),
        "tool_options": (8, "T>ToolRequestOptions"), "emit_xspace": (9, "bool")},
    "ProfileToolData": {"name": (1, "string"), "data": (2, "bytes")},
    "ProfileResponse": {"tool_data": (6, "*ProfileToolData"), "empty_trace": (7, "bool"), "xspace": (8, "|bytes")},
    "TerminateRequest": {"session_id": (1, "string")},
    "MonitorRequest": {"duration_ms": (1, "uint64"), "monitoring_level": (2, "int32"), "timestamp": (3, "bool")},
    "MonitorResult": {"response_type": (1, "int32"), "device_idle_time_percent": (2, "double")},
    "MonitorResponse": {"data": (1, "string"), "monitor_result": (10, "MonitorResult")},
}
IGNORED = {"ProfileRequest": ["tools", "tool_options"], "MonitorResponse": ["monitor_result"]}
PASSED_ON = {"ProfileRequest": "request", "ProfileOptions": "options", "MonitorRequest": "monitor_request",
             "MonitorResponse": "monitor_response", "TerminateRequest": "terminate_request"}
SCALARS = {name: getattr(descriptor_pb2.FieldDescriptorProto, "TYPE_" + name.upper())
           for name in ("string", "bytes", "bool", "uint32", "uint64", "int32", "int64", "double")}
LIMITS = {"uint32": (0, 2**32 - 1), "uint64": (0, 2**64 - 1), "int32": (-2**31, 2**31 - 1), "int64": (-2**63, 2**63 - 1)}


def set_type(field, name):
    field.type = SCALARS.get(name, descriptor_pb2.FieldDescriptorProto.TYPE_MESSAGE)
    if name not in SCALARS:
        field.type_name = ".tensorflow." + name


def declare():
    """A class for each message."""
    file = descriptor_pb2.FileDescriptorProto(name="profiler.proto", package="tensorflow", syntax="proto3")
    for message, fields in MESSAGES.items():
        declared = file.message_type.add(name=message)
        for name, (number, kind) in fields.items():
            field = declared.field.add(name=name, number=number, label=3 if kind[0] == "*" or ">" in kind else 1)
            if ">" in kind:
                entry = declared.nested_type.add(name=name.title().replace("_", "") + "Entry")
                entry.options.map_entry = True
                set_type(entry.field.add(name="key", number=1, label=1), "string")
                set_type(entry.field.add(name="value", number=2, label=1), kind[2:])
                set_type(field, message + "." + entry.name)
                continue
            set_type(field, kind.lstrip("*|"))
            if kind[0] == "|":
                declared.oneof_decl or declared.oneof_decl.add(name="value")
                field.oneof_index = 0
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {m: message_factory.GetMessageClass(pool.FindMessageTypeByName("tensorflow." + m)) for m in MESSAGES}


def text(dice):
    return "".join(dice.choice("abc/:_\u00e9\0 ") for _ in range(dice.randrange(1, 200 if dice.random() < 0.1 else 12)))


def scalar(dice, kind):
    if kind == "string":
        return text(dice)
    if kind == "bytes":
        return dice.randbytes(dice.randrange(400))
    if kind == "bool":
        return dice.random() < 0.7
    if kind == "double":
        return dice.random()
    low, high = LIMITS[kind]
    return dice.choice([low, high, dice.randint(low, high), dice.randrange(300)])


def fill(dice, message, name):
    """Gives a random half of the fields a random value."""
    oneof = [f for f, (_, kind) in MESSAGES[name].items() if kind[0] == "|"]
    chosen = dice.choice([*oneof, None]) if oneof else None
    for field, (_, kind) in MESSAGES[name].items():
        if (field in oneof and field != chosen) or (field not in oneof and dice.random() < 0.5):
            continue
        if ">" in kind:
            for _ in range(dice.randrange(5)):
                fill(dice, getattr(message, field)[text(dice)], kind[2:])
        elif kind[0] == "*":
            for _ in range(dice.randrange(4)):
                if kind[1:] in SCALARS:
                    getattr(message, field).append(scalar(dice, kind[1:]))
                else:
                    fill(dice, getattr(message, field).add(), kind[1:])
        elif kind.lstrip("|") in SCALARS:
            setattr(message, field, scalar(dice, kind.lstrip("|")))
        else:
            getattr(message, field).SetInParent()
            fill(dice, getattr(message, field), kind)


def ours(program, *words, given=b""):
    run = subprocess.run([program, *map(str, words)], input=given, capture_output=True)
    if run.returncode != 0:
        sys.exit("%s: %s" % (" ".join(map(str, words)), run.stderr.decode()))
    return run.stdout


def without_empty(message, name):
    """Clears what we do not keep: ignored fields, and a trace_options without a mask."""
    for field in IGNORED.get(name, []):
        message.ClearField(field)
    options = message.opts if name == "ProfileRequest" and message.HasField("opts") else message
    if options.DESCRIPTOR.name == "ProfileOptions" and not options.trace_options.host_traceme_filter_mask:
        options.ClearField("trace_options")
    return message


def check_passed_on(program, classes, dice):
    for name, word in PASSED_ON.items():
        for _ in range(40):
            message = classes[name]()
            fill(dice, message, name)
            got = classes[name].FromString(ours(program, word, given=message.SerializeToString()))
            if got != without_empty(message, name):
                sys.exit("%s is not as it was:\n%s\nright is\n%s" % (name, got, message))


def check_replies(program, classes, dice):
    for _ in range(60):
        reply = classes["ProfileResponse"]()
        fill(dice, reply, "ProfileResponse")
        for tool in reply.tool_data:
            tool.name = "tool%d" % dice.randrange(100)  # lines and words of our program's answer are told by white space
        right = ["tool %s %d %s" % (t.name, len(t.data), t.data.hex()) for t in reply.tool_data if t.data]
        right += ["xspace %d %s" % (len(reply.xspace), reply.xspace.hex())] if reply.HasField("xspace") else []
        right += ["empty_trace %d" % reply.empty_trace]
        for piece in (1, dice.randrange(2, 100), 1 << 20):
            lines = ours(program, "reply", piece, given=reply.SerializeToString()).decode().splitlines()
            got = [line.strip() for line in lines if line]
            if got != [line.strip() for line in right]:
                sys.exit("a reply in pieces of %d:\n%s\nright is\n%s" % (piece, got, right))


def check_heads(program, classes):
    for size in (0, 1, 127, 128, 5000, 300000):
        for empty in (0, 1):
            capture = bytes(i % 251 for i in range(size))
            reply = classes["ProfileResponse"].FromString(ours(program, "head", size, empty) + capture)
            if (reply.xspace, reply.empty_trace, reply.HasField("xspace")) != (capture, bool(empty), True):
                sys.exit("the head of %d bytes and empty_trace %d is read as %s" % (size, empty, reply))


def main():
    program, dice, classes = sys.argv[1], random.Random(7), declare()
    check_passed_on(program, classes, dice)
    check_replies(program, classes, dice)
    check_heads(program, classes)


if __name__ == "__main__":
    main()
