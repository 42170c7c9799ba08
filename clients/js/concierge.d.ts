// What concierge.js takes and gives. `Session<Services>` knows the documents of your services by their names:
//
//     interface Services { profile: { name: string; email: string | null }; basket: { items: Item[] } }
//     const session = await Session.open<Services>();
//     (await session.service("profile").get()).name;
//
// `concierge types ts` writes such types of what a server has loaded: `Session.open<Services, Flows, Commands>()`.

export type JSONValue = null | boolean | number | string | JSONValue[] | { [name: string]: JSONValue };

/** What can be said of any flow. */
export interface AnyFlow {
  input: any;
  outcome: string;
  /** The ids of its screens, and of those of its child flows. */
  screen: string;
  /** The data of its events, and of those of its child flows. */
  events: Record<string, any>;
}

/** What can be said of the commands of any service. */
export type AnyCommands = Record<string, { input: any; output: any }>;

/** What follows a name: the value, which may be left out where its type allows that. */
type Given<Value> = undefined extends Value ? [value?: Value] : {} extends Value ? [value?: Value] : [value: Value];

export interface SessionInfo {
  id: string;
  created_at: string;
  last_used_at: string;
  idle_expires_at: string;
  expires_at: string;
  user_id: string | null;
  labels: Record<string, string>;
  revision: number;
}

export interface SessionOptions {
  /** The server, such as `https://concierge.example.org` or `https://example.org/concierge`. Default: the page's own. */
  url?: string;
  /** `bearer` (default): this module keeps the token. `cookie`: the browser does, out of reach of scripts. */
  mode?: "bearer" | "cookie";
  /** Where the token outlives the page, and what proves a sign-in: `sessionStorage`, `localStorage`, or anything like them. */
  storage?: Pick<Storage, "getItem" | "setItem" | "removeItem"> | null;
  /** The token's name in `storage`. Default: `concierge`. */
  key?: string;
  /** A token that is known already, from your back end for example. */
  token?: string | null;
  /** Labels of a new session. */
  labels?: Record<string, string>;
  /** Whether the events of journeys carry the JSON Schema of their data, to draw forms from. */
  schemas?: boolean;
  /** Of the texts of flows, as in `Accept-Language`: `de`, or `de-AT, en;q=0.5`. Default: the browser's. */
  language?: string | null;
}

/** Who has signed in. */
export interface User {
  /** Null when nobody has. */
  id: string | null;
  authenticated: boolean;
  /** What the back end says of the user. */
  claims: Record<string, JSONValue>;
}

export interface Answer<Body = any> {
  status: number;
  headers: Headers;
  /** Of the header `ETag`, with its quotes. */
  etag: string | null;
  /** Undefined when the answer is not JSON. */
  body?: Body;
  response: Response;
}

/**
 * A refusal of the server (RFC 9457), or status 0 and code `offline` when it could not be reached. `message` ends with
 * the first of `errors` and its place.
 */
export class Problem extends Error {
  readonly status: number;
  readonly code?: string;
  /** For bad input: what is wrong, and where. */
  readonly errors: { pointer: string; detail: string }[];
  readonly answer: Answer;
}

/** Something that was committed: `type` is the name of the server's event, such as `service.changed`. */
export interface Change {
  /** `refresh`: anything may have changed. */
  type: string;
  id?: string;
  revision?: number;
  service?: string;
  journey?: string;
  etag?: string | null;
  [member: string]: unknown;
}

/** A request that was answered. */
export interface Exchange {
  method: string;
  path: string;
  body?: unknown;
  answer: Answer;
  /** Milliseconds. */
  duration: number;
}

export interface SessionEvents {
  /** After `follow`: something was committed, no matter which client made the change. */
  change: CustomEvent<Change>;
  /** The server cannot be reached, and can be again. */
  offline: CustomEvent;
  online: CustomEvent;
  /** The session has ended. Open another one. */
  expired: CustomEvent;
  exchange: CustomEvent<Exchange>;
}

export class Session<
  Services extends Record<string, any> = Record<string, any>,
  Flows extends Record<string, any> = Record<string, AnyFlow>,
  Commands extends Record<string, any> = Record<string, AnyCommands>,
> extends EventTarget {
  /** Resumes the session that `storage`, `token` or the cookie names, or creates one. */
  static open<
    Services extends Record<string, any> = Record<string, any>,
    Flows extends Record<string, any> = Record<string, AnyFlow>,
    Commands extends Record<string, any> = Record<string, AnyCommands>,
  >(options?: SessionOptions): Promise<Session<Services, Flows, Commands>>;

  readonly info: SessionInfo;
  readonly isOnline: boolean;
  readonly isExpired: boolean;
  /** Tabs with the same `storage` share it. Null in cookie mode. A sign-in from a flow replaces it; set it when your back end hands over a new one. */
  token: string | null;
  /** Of the texts of flows. When it is set, what was read before is read again. Null leaves it to the browser. */
  language: string | null;
  /** The user who has signed in, by a flow, another tab or a back end: live after `follow`, like a service that was read. */
  readonly user: Live<User>;

  /**
   * What an event carries so that a sign-in that it leads to is this client's. `send` adds it; only requests of your own to
   * `…/events` need it. Undefined on insecure pages.
   */
  challenge(): Promise<string | undefined>;
  /** Reads `info` again. In cookie mode: after the browser was given a new cookie, goes on with that. */
  refresh(): Promise<this>;
  /** Ends the session, and removes all of its services and journeys. */
  end(): Promise<void>;
  /** The same object for the same name. Nothing is sent before one of its functions is called. */
  service<Name extends keyof Services & string>(
    name: Name,
  ): Service<Services[Name], Name extends keyof Commands ? Commands[Name] : {}>;
  /** Which services there are, and which of them live. Creates none. */
  services(): Promise<ServiceItem[]>;
  /** A journey that exists; `main` always does when the server has a main flow. Call `get` to read it. */
  journey<Flow extends AnyFlow = AnyFlow>(id: string): Journey<Flow>;
  /**
   * Starts a flow. `resume` continues the journey of that flow that runs, if there is one; `at` is a screen inside, and
   * `params` are those of its frame.
   */
  start<Id extends keyof Flows & string>(
    flow: Id,
    options?: { input?: Flows[Id]["input"]; at?: Flows[Id]["screen"]; params?: Record<string, JSONValue>; version?: number; resume?: boolean },
  ): Promise<Journey<Flows[Id]>>;
  /**
   * Goes on here with a journey of another session: by a link that `Journey.link` has made, or with one of
   * `journeysOfUser`. A `Problem` 404 when the link cannot be used any more.
   */
  take(what: string | { session: string; journey: string }): Promise<Journey>;
  /** The journeys of all sessions of the user who is signed in here. */
  journeysOfUser(): Promise<(JourneyView & { session: string; portable: boolean })[]>;
  /**
   * Any request. `path` begins with `/v1/`; `/v1/sessions/current` is this session, also if another tab has stored the
   * token of another one. A GET or POST is repeated when that may help. Rejects with a `Problem` for a status of 400 and
   * more, and with status 0 and the code `offline` when no answer came.
   */
  request<Body = any>(
    method: string,
    path: string,
    options?: { body?: unknown; headers?: Record<string, string>; signal?: AbortSignal },
  ): Promise<Answer<Body>>;
  /**
   * Keeps every service and journey that was read up to date: by the event stream, of which the tabs of a session share
   * one, or by one waiting request where no stream gets through.
   * @returns what ends it.
   */
  follow(): () => void;

  addEventListener<Type extends keyof SessionEvents>(
    type: Type,
    listener: (event: SessionEvents[Type]) => void,
    options?: AddEventListenerOptions,
  ): void;
  addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject | null,
    options?: boolean | AddEventListenerOptions,
  ): void;
}

export interface ServiceItem {
  name: string;
  kind: string;
  scope: "session";
  status: "registered" | "live";
  etag: string;
  created_at?: string;
  updated_at?: string;
  expires_at?: string;
  /** The names of its commands. */
  commands: string[];
}

/** A value with its ETag. Dispatches `change` when it has another one, no matter which client made the change. */
export interface Live<Value> extends EventTarget {
  /** As it was read last; null before, and when it is gone. */
  readonly value: Value | null;
  readonly etag: string | null;
  /** Reads it. Nothing is transferred when it has not changed (304). */
  get(options?: { headers?: Record<string, string>; signal?: AbortSignal }): Promise<Value>;
  addEventListener(type: "change", listener: (event: Event) => void, options?: AddEventListenerOptions): void;
}

/** A JSON document of the session. */
export interface Service<Document = any, Commands = AnyCommands> extends Live<Document> {
  /** Replaces it. With `etag`: only if it still has that one, else a `Problem` 412. */
  put(document: Document, etag?: string): Promise<Document>;
  /** Changes a part of it by a merge patch (RFC 7396), in which null removes a member. */
  patch(patch: { [name: string]: JSONValue }, etag?: string): Promise<Document>;
  /**
   * Reads it, writes what `change` makes of it, and starts again when it was changed meanwhile: no update is lost.
   * `change` gets a copy, and changes it or returns another one.
   */
  update(change: (document: Document) => Document | void | Promise<Document | void>): Promise<Document>;
  /**
   * Calls a command of the service, and gives its output, undefined without one. With `etag`: only if the document still
   * has that one. A refusal is a `Problem` 409 with the code `command_refused`; `answer.body.reason` says why.
   */
  call<Name extends keyof Commands & string>(
    command: Name,
    ...input: CommandInput<Commands[Name]>
  ): Promise<CommandOutput<Commands[Name]>>;
  call<Output = any>(
    command: string extends keyof Commands ? string : never,
    input?: JSONValue,
    etag?: string,
  ): Promise<Output>;
  /** The same instance, in its default state. */
  clear(): Promise<Document>;
  /** The instance is gone; the next access makes a clean one. */
  remove(): Promise<Document>;
}

type CommandInput<Command> = Command extends { input: infer Input } ? [...Given<Input>, string?] : [];
type CommandOutput<Command> = Command extends { output: infer Output } ? Output : undefined;

export interface JourneyView<Flow extends AnyFlow = AnyFlow> {
  id: string;
  flow: string;
  version: number;
  status: "active" | "finished" | "expired" | "stuck";
  step: number;
  /** Null when the journey is over. */
  screen: Screen<Flow["screen"]> | null;
  events: JourneyEvent<keyof Flow["events"] & string>[];
  can_go_back: boolean;
  stack: { flow: string; screen: string; presentation: string }[];
  coordinators: Coordinator | null;
  outcome: Flow["outcome"] | null;
  output: JSONValue;
  started_at: string;
  expires_at: string | null;
  /** When something happens by itself next; null for never, as the data is. */
  due_at: string | null;
  /** What the last step tells the person; it stays until the next step. */
  message: string | null;
}

export interface Screen<Id extends string = string> {
  id: Id;
  /** Which screen of the client draws it. */
  name: string;
  title?: string;
  presentation: string;
  /** The documents that are shown, by the names of their services. */
  data: Record<string, any>;
  params?: JSONValue;
  /** `busy` while the journey waits for a task. */
  status?: string;
}

export interface JourneyEvent<Name extends string = string> {
  name: Name;
  /** What people call it, if the flow has a word for it. */
  label?: string;
  enabled: boolean;
  /** Why it is not enabled. */
  why?: { pointer: string; detail: string }[];
  /** Of its data; with the option `schemas`. */
  schema?: Record<string, any>;
}

export interface Coordinator {
  flow: string;
  state: string;
  children: Coordinator[];
}

type BackData<Events> = Events extends { back: infer Data } ? Data : unknown;

/** A way through a flow: draw `view.screen`, send one of `view.events`. */
export interface Journey<Flow extends AnyFlow = AnyFlow> extends Live<JourneyView<Flow>> {
  /** The same as `value`. */
  readonly view: JourneyView<Flow> | null;
  /** Takes a step. A `Problem` 412 when what was seen has changed; `view` is the new one then. */
  send<Event extends keyof Flow["events"] & string>(
    event: Event,
    ...data: Given<Flow["events"][Event]>
  ): Promise<JourneyView<Flow>>;
  /** Returns to the screen below, with an object that the screen accepts with `back`, such as a draft. */
  back(data?: BackData<Flow["events"]>): Promise<JourneyView<Flow>>;
  /**
   * A deep link: goes to a screen along a path that the server computes. A `Problem` 409 says what blocks it.
   * `params` are those of the screen's frame, as `view.screen.params` shows them.
   */
  navigate(screen: Flow["screen"], params?: Record<string, JSONValue>): Promise<JourneyView<Flow>>;
  /** Releases everything of the journey and begins again. The session's services stay. */
  startOver(flow?: string, input?: JSONValue): Promise<JourneyView<Flow>>;
  abandon(): Promise<void>;
  /** A secret by which the journey can be taken to another session, once; good for seven days unless `expiresIn` says. */
  link(expiresIn?: string): Promise<{ link: string; expires_at: string }>;
  /** A service as this journey sees it: its flow's own, else the session's. */
  service<Document = any>(name: string): Service<Document>;
}
