/**
 * The contract of a provider. A provider is one frozen object in one file, one fixture folder and one line in
 * `registry.ts`; no other file names it (a test looks). It says where its API lives, which paths are its own, what an
 * endpoint is called and costs, and which shape its answers have. It does not see sockets, bodies of other
 * providers, the database or prices.
 */
import type { AwsHost } from '../aws-host.ts';
import type { ProviderName } from '../call-record.ts';
import type { SessionName } from '../shapes/session.ts';
import type { ShapeName } from '../shapes/shape.ts';

/** What a request's line and headers say, before any body is read. */
export interface RequestLine {
  readonly method: string;
  /** The path as received, byte for byte, without the query. */
  readonly path: string;
  /** The query as received, without "?"; empty when there is none. */
  readonly query: string;
  /** First value of a request header by lower-case name, or undefined. */
  readonly header: (name: string) => string | undefined;
}

export interface Endpoint {
  /** E.g. `chat.completions`, `responses`, `embeddings`, `messages`, `messages.count_tokens`, `generateContent`, `converse`; `unknown`. */
  readonly family: string;
  readonly shape: ShapeName;
  /** False when the endpoint costs nothing by itself. */
  readonly billed: boolean;
  /**
   * It fetches a result that an earlier call asked for: it costs nothing by itself, and the first one that hands over
   * the finished result carries that result's usage.
   */
  readonly fetchesResult?: true;
  /** The id of that result, where the path has it and the answer does not. */
  readonly resultId?: string;
  /** What the provider bills by the request: its own text, the pictures it asks for, or the documents to be ranked, when the answer reports no tokens. */
  readonly countsRequest?: 'characters' | 'pictures' | 'queries';
  /** Its answer names an address, in `results_url`, where clients fetch results. */
  readonly namesResults?: true;
  readonly isBatch: boolean;
  /** Where the model stands. */
  readonly model: { readonly in: 'body' } | { readonly in: 'path'; readonly name: string } | { readonly in: 'nowhere' };
  /** Whether the answer is a stream: said by the body's `stream`, or by the path. */
  readonly streamed: 'body' | boolean;
}

/** What a websocket handshake opens. */
export interface WebsocketEndpoint {
  /** Of the connection as a whole; its shape is that of a refusal, which comes as an ordinary answer. */
  readonly endpoint: Endpoint;
  /** How usage stands in its messages. */
  readonly session: SessionName;
}

export interface Provider {
  readonly name: ProviderName;
  /** The default origin; for regional providers a function of the region. */
  readonly origin: (region: string | null) => string;
  readonly defaultRegion: string | null;
  /** Is this host, in lower case and without a port, one of the provider's own? */
  readonly ownsHost: (host: string) => boolean;
  /** What a credential looks like that it gives out and none of the other six does. */
  readonly credentialForm: RegExp;
  /** A request header, in lower case, that no other of the seven reads a credential from. Absent: none. */
  readonly credentialHeader?: string;
  /** Does this request carry, beside its path, what only clients of this provider send? */
  readonly isOwnClient: (request: RequestLine) => boolean;
  /** Is that the user agent of an SDK of its own, on a path that it has there? Absent: those are used for others, too. */
  readonly isOwnSdk?: (userAgent: string, path: string) => boolean;
  /** Does this path belong to this provider when no X-Gateway-Provider was sent, and nothing else tells? */
  readonly claims: (request: RequestLine) => boolean;
  /** What a path with a common wrong base (doubled or missing prefix) was meant to be, or null when it is none of them. */
  readonly repairPath: (path: string) => string | null;
  /** The path to send upstream for a path that a client of this provider uses; unchanged when nothing is to be mapped. */
  readonly mapPath: (path: string) => string;
  /** Which endpoint a (mapped, upstream) path is. Never throws; an unknown path is `unknown`, opaque and billed. */
  readonly endpoint: (request: RequestLine) => Endpoint;
  /** What a websocket handshake on a (mapped, upstream) path opens, or null where there is none. Absent: nowhere. */
  readonly websocket?: (request: RequestLine) => WebsocketEndpoint | null;
  /** True when this endpoint's streams lack usage unless `stream_options.include_usage` is sent. */
  readonly asksForUsage: (endpoint: Endpoint) => boolean;
  /** Its answers do not say on which tier they were served, and the one that was asked for is billed. */
  readonly isTierAsAsked?: true;
  /** Response headers, lower-case, that carry the provider's request id, best first. */
  readonly requestIdHeaders: readonly string[];
  /** The response header, lower-case, that names the error where the body does not; its value up to the first `:`. */
  readonly errorTypeHeader: string | null;
  /** Do its clients read `error.code` as a number, on this path? Absent: as a word, as everybody else's. */
  readonly hasNumericErrors?: (path: string) => boolean;
  /** The services of AWS's that its clients may sign calls for. Absent: none. */
  readonly signedServices?: readonly AwsHost['service'][];
  /** Where data stays that is sent to this host of the provider's, if that may change a price. Absent: nowhere. */
  readonly placeOfHost?: (host: string) => string | null;
  /** The region that a request is for, from its headers or path, or null. */
  readonly region: (request: RequestLine) => string | null;
}
