// The steps: a strip for each name of steps, and all of them as a table.

import { jsonWhenReady } from "./api.js";
import { column, COUNTERS, meter, severalHosts, stepLabel } from "./columns.js";
import { el } from "./dom.js";
import { time } from "./format.js";
import { goTo } from "./state.js";
import { strip } from "./strip.js";
import { table } from "./table.js";

export async function steps(box) {
  const answer = await jsonWhenReady("table/steps"),
    { tracks } = await jsonWhenReady("tracks");
  const seen = new Map(); // steps of a host so far: its track has them in the same order
  for (const step of answer.steps) {
    const k = seen.get(step.host) ?? 0,
      track = tracks.find((each) => each.kind === "steps" && each.host === step.host);
    seen.set(step.host, k + 1);
    step.place = track ? { track: track.id, item: k, depth: 0, start_ps: step.start_ps, dur_ps: step.dur_ps } : null;
  }
  const names = new Map();
  answer.steps.forEach((step) => {
    const key = severalHosts() ? `${step.name} of ${step.host}` : step.name;
    names.set(key, [...(names.get(key) ?? []), step]);
  });
  const source = {
    module: "Inferred: no step is marked in the capture, so each run of the main program counts as one.",
    device: "From the line Steps of the devices.",
  }[answer.source];
  const view = table({
    name: "steps",
    label: "steps",
    go: (step) => goTo(step.place, 0.1),
    links: (step) => Boolean(step.place),
    empty:
      answer.reason ??
      "No step is marked in this capture. Annotate the loop: StepTraceAnnotation in JAX, StepTrace in torch_xla.",
    columns: [
      column("step", "text", stepLabel),
      ...(severalHosts() ? [column("host", "text", (s) => s.host)] : []),
      column("start", "time", (s) => s.start_ps, { key: "start_ps" }),
      column("length", "time", (s) => s.dur_ps, {
        key: "dur_ps",
        cell: (s) => meter(s.dur_ps / longest, time(s.dur_ps)),
      }),
      column("busy", "time", (s) => s.busy_ps, { key: "busy_ps" }),
      ...COUNTERS.map((name) => column(name, "count", (s) => s[name], { minor: true })),
      ...(answer.steps.every((step) => step.complete)
        ? []
        : [column("cut", "text", (s) => (s.complete ? "" : "cut by the session"), { minor: true })]),
    ],
  });
  const longest = Math.max(1, ...answer.steps.map((step) => step.dur_ps));
  box.replaceChildren(
    ...[
      source ? el("p", { class: "soft", text: source }) : null,
      ...[...names]
        .sort((a, b) => b[1].length - a[1].length)
        .slice(0, 4)
        .map(([name, some]) => strip(name, some, (step) => step.place && goTo(step.place, 0.1))),
      view.box,
    ].filter(Boolean),
  );
  view.fill(answer.steps);
}
