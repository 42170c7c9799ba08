// One journey: where it stands, how it came there, what it waits for, and what can be done.

import { element } from "./dom.js";
import { Problem, call, get, url } from "./api.js";
import { action, complain, field, say } from "./actions.js";
import { definitions, link, services, table, time } from "./lists.js";
import { funnelPicture, funnelTable, getFunnel } from "./funnel.js";

const interval = 2000;

/** The coordinator and those that it has started, each with the version of its flow where that is known. */
const chain = ({ flow, state, children }, version) => [{ flow, state, version }, ...children.flatMap((child) => chain(child))];

const tree = ({ flow, state, children }) =>
  element("ul", {}, element("li", {}, element("b", {}, flow), ` in ${state}`, children.map(tree)));

const json = (value) => element("pre", { tabindex: "0", role: "group", "aria-label": "Result" }, JSON.stringify(value, null, 2));

export async function journey([session, id], query, { signal }) {
  const path = url`/v1/sessions/${session}/journeys/${id}`;
  const root = element("div", { class: "journey" });
  const heading = element("h1", {});
  let seen = null;
  let [isAway, isGone] = [false, false];

  /** Fetches what the page shows, if it has changed. Returns null if not. */
  async function look(isForced) {
    const fields = seen && !isForced ? { "If-None-Match": seen.etag } : {};
    const { status, etag, data: view } = await call("GET", path, { fields });
    if (status === 304) return null;
    const coordinators = view.coordinators ? chain(view.coordinators, view.version) : [];
    const [owner, history, live, ...funnels] = await Promise.all([
      get(url`/v1/sessions/${session}`), get(`${path}/history`), get(`${path}/services?limit=100`),
      ...coordinators.map(({ flow, version }) => getFunnel(flow, version)),
    ]);
    return { etag, view, owner, history, live, funnels, coordinators };
  }

  /** Draws it anew, and leaves the focus and what is open where they were. */
  function draw() {
    const nodes = content();
    const focused = root.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    const open = new Set([...root.querySelectorAll("details[open]")].map(({ dataset }) => dataset.key));
    root.replaceChildren(...nodes);
    for (const details of root.querySelectorAll("details")) details.open = open.has(details.dataset.key);
    if (focused !== null) {
      const same = [...root.querySelectorAll("[data-key]")].find(({ dataset }) => dataset.key === focused);
      (same ?? heading).focus({ preventScroll: true });
    }
  }

  let turn = Promise.resolve();
  /** One at a time: an older view never follows a newer one, nor a complaint what was said of the end. */
  const refresh = (isForced = true) => (turn = turn.then(() => update(isForced)));

  async function update(isForced) {
    if (signal.aborted || isGone) return;
    try {
      const next = await look(isForced);
      if (signal.aborted) return;
      if (isAway) complain("");
      isAway = false;
      if (!next) return;
      if (seen && next.view.step !== seen.view.step) say(`The journey is on ${next.view.screen?.id ?? next.view.status}.`);
      seen = next;
      draw();
    } catch (problem) {
      if (signal.aborted || isAway) return;
      complain(problem);
      isAway = problem.status === 0;
      isGone = problem.status === 404;
      if (!isGone) return;
      root.replaceChildren(element("p", {}, "This journey is gone."));
      heading.focus();
    }
  }

  /** An action on what is seen: if the journey has moved since, the server refuses. */
  const step = (label, question, method, path, body = () => undefined) =>
    action(label, question, async (answers) => void (await call(method, path, { body: body(answers), fields: { "If-Match": seen.etag } })), refresh);

  function actions({ view, funnels }) {
    const screens = [...new Set(funnels.flatMap(({ states }) => states).filter(({ type }) => type === "screen").map(({ id }) => id))];
    const isOver = view.status !== "active";
    return element(
      "p",
      { class: "actions" },
      !isOver &&
        step("Go to a screen", {
          title: "Go to a screen?", text: "Actions on the way run, as when the person goes there.", done: "The journey was moved.",
          fields: () => [field("Screen", "to", {}, screens)],
        }, "POST", `${path}/navigation`, ({ to }) => ({ to })),
      step("Start over", {
        title: "Start this journey over?", text: "Its stack, its coordinators and what they own are removed first.", done: "The journey was started over.",
      }, "PUT", path, () => ({})),
      step("End journey", { title: "End this journey?", text: "It is abandoned, with what it owns.", done: "The journey was ended." }, "DELETE", path),
    );
  }

  function task(task) {
    const at = (verb) => url`/v1/tasks/${task.id}/` + verb;
    const act = (label, question, verb, body) =>
      action(label, { key: `${label} ${task.id}`, done: `${task.task}: done.`, ...question }, async (answers) => {
        const { data } = await call("POST", at(verb), { body: body?.(answers) });
        if (data?.held) return `${task.task}: the result is held. ${data.problem?.detail ?? ""}`;
      }, refresh);
    return element(
      "section",
      { class: "card" },
      element("h3", {}, task.task),
      definitions([
        ["Status", task.status], ["Attempt", `${task.attempt} of ${task.attempts}`], ["Last failure", task.last_failure],
        ["Next attempt", time(task.next_attempt_at)], ["Lease until", time(task.lease_expires_at)], ["Since", time(task.created_at)],
        ["Held because", task.problem?.detail], ["Result", task.result && json(task.result)],
      ]),
      element(
        "p",
        { class: "actions" },
        act("Retry", { title: `Try ${task.task} again?`, text: "The next attempt may begin now; a result that is held is tried again." }, "retry"),
        act("Finish", {
          title: `Finish ${task.task}?`, text: "As its back end would, with a result.",
          fields: () => [field("Outcome", "outcome", { required: true }), field("Output, as JSON", "output", { value: "null", required: true })],
        }, "result", ({ outcome, output }) => ({ outcome, output: parsed(output) })),
        act("Fail", {
          title: `Give ${task.task} up?`, text: "No further attempt is made; the journey goes on as its flow says.",
          fields: () => [field("Reason", "reason", { required: true, value: "ended by an operator" })],
        }, "failure", ({ reason }) => ({ reason, final: true })),
      ),
    );
  }

  function content() {
    const { view, owner, history, live, funnels, coordinators } = seen;
    heading.textContent = `Journey ${view.flow}`;
    const problems = [view, ...view.tasks].map(({ problem }) => problem).filter(Boolean);
    const waits = view.events?.filter(({ enabled }) => !enabled) ?? [];
    return [
      problems.length > 0 && element("p", { class: "complaint" }, problems.map(({ detail, title }) => detail ?? title).join(" ")),
      definitions([
        ["Screen", view.screen && element("span", {}, element("strong", {}, view.screen.id), view.screen.title ? ` – ${view.screen.title}` : "")],
        ["Status", view.screen?.status ? `${view.status}, ${view.screen.status}` : view.status],
        ["Outcome", view.outcome],
        ["User", owner.user_id && link(url`#/journeys?user_id=${owner.user_id}`, owner.user_id)],
        ["Session", link(url`#/session/${session}`, session)],
        ["Flow", link(url`#/flow/${view.flow}?version=${view.version}`, `${view.flow} ${view.version}`)], ["Step", view.step],
        ["Started", time(view.started_at)], ["Due", time(view.due_at)], ["Expires", time(view.expires_at)],
      ]),
      actions(seen),
      view.tasks.length > 0 && element("h2", {}, "Tasks"),
      view.tasks.map(task),
      waits.length > 0 && element("h2", {}, "What is in the way"),
      waits.length > 0 && element("ul", {}, waits.map(({ name, why = [] }) =>
        element("li", {}, element("b", {}, name), ` – ${why.map(({ pointer, detail }) => `${pointer?.slice(1) ?? ""} ${detail}`).join("; ")}`))),
      element("h2", {}, "Position"),
      element(
        "div",
        { class: "columns" },
        element("div", {}, element("h3", {}, "Stack"), element("ol", {}, view.stack.map(({ flow, screen, presentation }) =>
          element("li", {}, element("b", {}, screen), ` ${flow} · ${presentation}`)))),
        view.coordinators && element("div", {}, element("h3", {}, "Coordinators"), tree(view.coordinators)),
      ),
      funnels.map((funnel, place) => {
        const { state, version } = coordinators[place];
        const numbers = element("details", { "data-key": `numbers ${funnel.flow}` }, element("summary", {}, `Numbers of ${funnel.flow}`), funnelTable(funnel, version));
        return [funnelPicture(funnel, { version, here: state }), numbers];
      }),
      element("h2", {}, "Data"),
      services(live.items, path, new Map(view.services.map(({ name, state }) => [name, state]))),
      table("Its last 50 steps, the latest first", ["Time", "Cause", "Event", "From", "To", "Who"], history.items.toReversed().map((step) => [
        time(step.time), step.cause, step.event, step.from, step.to, step.who,
      ])),
    ].flat(2).filter(Boolean);
  }

  async function follow() {
    while (!signal.aborted && !isGone) {
      await new Promise((resolve) => setTimeout(resolve, interval));
      if (!document.hidden && !document.querySelector("dialog[open]") && !signal.aborted) await refresh(false);
    }
  }

  seen = await look();
  root.replaceChildren(...content());
  follow();
  return [heading, root];
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Problem(0, { title: "The output is not JSON." });
  }
}
