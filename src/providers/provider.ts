/**
 * The contract of a provider: one frozen object in one file, one fixture folder and one line in `registry.ts`; no other
 * file names it (a test looks). It is data and small pure functions that also run in a browser: no sockets, database or
 * prices.
 */

import type { AwsHost } from './aws-host.ts';
import type { SessionName, UsageFormatName } from './format-names.ts';

/** A request's line and headers, before its body. */
export interface RequestLine {
  readonly method: string;
  /** As received, without the query. */
  readonly path: string;
  /** As received, without "?". */
  readonly query: string;
  /** The first value of a header by lower-case name. */
  readonly header: (name: string) => string | undefined;
}

/** Where a request names its model. */
export type ModelPlace =
  /** `names`: the members of which one names it. Absent: `model`. */
  | { readonly in: 'body'; readonly names?: readonly string[] }
  | { readonly in: 'path'; readonly name: string }
  | { readonly in: 'nowhere' };

export interface Endpoint {
  /** E.g. `chat.completions`, `messages.count_tokens`, `generateContent`; `unknown`. */
  readonly family: string;
  readonly format: UsageFormatName;
  readonly billed: boolean;
  /** It fetches an earlier call's result, and the first call that returns the finished result carries its usage. */
  readonly fetchesResult?: true;
  /** The result's id, where the path has it and the answer does not. */
  readonly resultId?: string;
  /** The id of the answer that the path fetches again. */
  readonly fetchedAnswer?: string;
  /** What is billed by the request (its text, pictures or documents) when the answer reports no tokens. */
  readonly countsRequest?: 'characters' | 'pictures' | 'queries';
  /** Its answer's `results_url` is where clients fetch results. */
  readonly namesResults?: true;
  readonly isBatch: boolean;
  readonly model: ModelPlace;
  /** `body`: the body's `stream` decides. */
  readonly streamed: 'body' | boolean;
}

/** A program that makes one call, with placeholders for the reader's settings. */
export interface SnippetTemplate {
  readonly id: string;
  readonly label: string;
  readonly language: 'js' | 'python';
  /**
   * `{base}` is the gateway's address. A line `{headers}` stands for the gateway's headers, `{run headers}` for those
   * of a step, `{imports}` for Python imports, each with its line's indent; `{trace}` declares the run. `?` begins a
   * line only for a call of a run, `!` one only for others.
   */
  readonly code: string;
  /** This client's most frequent problem. */
  readonly pitfall: string;
}

export interface WebsocketEndpoint {
  /** The connection's endpoint; its format reads a refusal, which is an ordinary answer. */
  readonly endpoint: Endpoint;
  readonly session: SessionName;
}

export interface Credential {
  readonly header: string;
  /** What precedes it in that header: `Bearer `, or nothing. */
  readonly prefix: string;
  /** Its clients' environment variable. */
  readonly variable: string;
  /** No other provider reads credentials from this header, so that it identifies the provider. */
  readonly isHeaderItsOwn?: true;
}

/** An environment variable from which clients take their base address. */
export interface BaseVariable {
  readonly name: string;
  /** What they expect behind the gateway's address: `/v1`, or nothing. */
  readonly path: string;
}

/** Useful lower-case headers that only this provider has and that carry no credential. */
export interface LoggedHeaders {
  /** A copy of the call sends these again. */
  readonly request?: readonly string[];
  readonly answer?: readonly string[];
  /** Prefixes of further answer headers. */
  readonly answerPrefixes?: readonly string[];
}

/** How its API writes an error: `{"error": {"type"}}`, Anthropic's, Google's `status`, or AWS's exceptions. */
export type ErrorFamily = 'chat' | 'messages' | 'google' | 'aws';

/** `Name` is the union of the registry's names. */
export interface Provider<Name extends string = string> {
  readonly name: Name;
  readonly displayName: string;
  readonly catalogId: string;
  readonly credential: Credential;
  /** Of its own SDKs and of others that call it. */
  readonly baseVariables: readonly BaseVariable[];
  /** Nothing in its clients' requests is sure to tell the provider, so an address must name it. */
  readonly isNamedInAddress?: true;
  readonly errorFamily: ErrorFamily;
  readonly loggedHeaders?: LoggedHeaders;
  /** Model ids that name the operator's own resources, not the model behind them. */
  readonly opaqueModelId?: RegExp;
  /** The Get started page's programs. Absent: another provider's SDK calls it. */
  readonly snippets?: readonly SnippetTemplate[];
  /** The default origin, by region for regional providers. */
  readonly origin: (region: string | null) => string;
  readonly defaultRegion: string | null;
  /** Other names of the host of its default origin, behind which is the same service. */
  readonly otherHosts?: readonly string[];
  /** `host` is in lower case and without a port. */
  readonly ownsHost: (host: string) => boolean;
  /** Credentials that it issues and no other provider does. */
  readonly credentialForm: RegExp;
  /** Does this request, apart from its path, show a client of this provider? */
  readonly isOwnClient: (request: RequestLine) => boolean;
  /** Is this its own SDK's user agent, on a path of its own? Absent: its SDKs are used for others too. */
  readonly isOwnSdk?: (userAgent: string, path: string) => boolean;
  /** It claims whatever is left and is asked last. At most one provider does. */
  readonly claimsTheRest?: true;
  /** Does the path belong to this provider when nothing else tells? */
  readonly claims: (request: RequestLine) => boolean;
  /** Repairs a common wrong base (a doubled or missing prefix); null for all other paths. */
  readonly repairPath: (path: string) => string | null;
  /** Maps a client's path to the upstream's. `host`: the upstream's name in lower case, where the operator configured one. */
  readonly mapPath: (path: string, host?: string) => string;
  /** Takes a mapped path. Never throws; an unknown path is `unknown`, opaque and billed. */
  readonly endpoint: (request: RequestLine) => Endpoint;
  /** What a handshake on a mapped path opens, or null. */
  readonly websocket?: (request: RequestLine) => WebsocketEndpoint | null;
  /** True when its streams lack usage unless `stream_options.include_usage` is sent. */
  readonly asksForUsage: (endpoint: Endpoint) => boolean;
  /** Answers do not report their tier, and the tier asked for is billed. */
  readonly isTierAsAsked?: true;
  /** Lower-case request headers by which a call asks for its tier and speed. Absent: only the body does. */
  readonly termHeaders?: { readonly serviceTier: string; readonly speed: string };
  /** Answers report the tier, speed and place that they were served with, where one was asked for. */
  readonly reportsTerms?: true;
  /** What its clients ask without a gateway key, to see what there is: a method and a path. It is no failed call. */
  readonly probes?: readonly string[];
  /** Lower-case answer headers with the provider's request id, best first. */
  readonly requestIdHeaders: readonly string[];
  /** The lower-case answer header that names an error, up to its first `:`, where the body does not. */
  readonly errorTypeHeader: string | null;
  /** Do clients read `error.code` as a number on this path? Absent: as a word. */
  readonly hasNumericErrors?: (path: string) => boolean;
  /** AWS services that its clients may sign for. */
  readonly signedServices?: readonly AwsHost['service'][];
  /** Where data sent to this host stays, if that may change a price. */
  readonly placeOfHost?: (host: string) => string | null;
  readonly region: (request: RequestLine) => string | null;
}
