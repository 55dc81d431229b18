/**
 * Stands in for the providers of the agents: says what the script says, so that sub-agents are started, and keeps a ledger
 * of its own of every request that came, by the marks in its text. Over HTTP and, for Responses, on websockets.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { waitUntil } from '../gateway/start-gateway.ts';
import {
  AGENT_MESSAGE,
  type Answer,
  generateContent,
  type Json,
  listOf,
  messages,
  responses,
  type Tokens,
  type WireFormat,
} from './said-in-formats.ts';
import {
  type AgentTools,
  PARALLEL_SESSIONS,
  type Place,
  type Progress,
  readPlace,
  type Said,
  say,
} from './session-script.ts';

export interface LedgerCall {
  /** Null where nothing in it says whose it is. */
  readonly place: Place | null;
  /** `connection`: the handshake of a websocket, whose messages are `turn`s. */
  readonly kind: 'request' | 'turn' | 'connection';
  readonly what: string;
  readonly model: string | null;
  /** No two calls are given the same number of input tokens. Null where the answer said no usage. */
  readonly tokens: Tokens | null;
  readonly isCut: boolean;
  /** Of a turn: where its connection stands in the ledger. */
  readonly connection: number | null;
  /** A handshake, and what warms its connection up: sent before there is a message of anybody. */
  readonly isOpening: boolean;
}

export interface SpawningProvider {
  readonly origin: string;
  /** Begins a new ledger. */
  readonly begin: (script: AgentTools) => void;
  readonly ledger: () => readonly LedgerCall[];
  readonly close: () => Promise<void>;
}

interface State {
  script: AgentTools | null;
  ledger: LedgerCall[];
  readonly progress: Map<string, Progress>;
  /** Of answers that a later turn on a websocket continues, without repeating what was said. */
  readonly placeOfAnswer: Map<string, Place>;
  /** Over all ledgers, so that no two calls ever have the same tokens. */
  count: number;
}

const FIRST_INPUT = 1_000;
const MAX_OUTPUT = 89;
const BOTH_LIMIT_MS = 120_000;
/** Of a close frame. */
const MAX_REASON = 100;
const SILENT: Said = { calls: [], isCut: false };
const NOTHING = { place: null, model: null, tokens: null, isCut: false, connection: null, isOpening: false };
const MODEL_IN_PATH = /models\/([^:]+):/;
/** In JSON within JSON. */
const AGENT_ID = /agent_id[\\":]+([\w-]+)/g;

/** In no even steps, so that two runs that share calls in another way have other sums. */
function nextTokens(state: State): Tokens {
  state.count += 1;
  const { count } = state;
  return { input: FIRST_INPUT + (count * (count + 1)) / 2, output: 7 + ((count * count * 31) % MAX_OUTPUT) };
}

function progressOf(state: State, { session, agent, message }: Place): Progress {
  const name = `${session} ${agent} ${message}`;
  const known = state.progress.get(name) ?? { answers: 0, ids: [], ended: new Set() };
  state.progress.set(name, known);
  return known;
}

/** The first answers of two sessions wait for one another, so that both are under way at once. */
async function waitForOther(state: State, { session, agent, message }: Place): Promise<void> {
  if (!PARALLEL_SESSIONS.includes(session) || agent !== 'main' || message !== 1) return;
  await waitUntil(
    'the other session calls',
    () => PARALLEL_SESSIONS.every((one) => state.ledger.some(({ place }) => place?.session === one)) || undefined,
    BOTH_LIMIT_MS,
  );
}

interface Asked {
  readonly format: WireFormat;
  readonly body: Json;
  readonly what: string;
  readonly connection: number | null;
}

interface Answered {
  readonly place: Place | null;
  readonly answer: Answer;
  readonly isCut: boolean;
}

/** Writes it into the ledger before it is answered: a call that is never answered was made all the same. */
async function answerCall(state: State, { format, body, what, connection }: Asked): Promise<Answered> {
  const { script } = state;
  if (script === null) throw new Error('no script');
  const continued = state.placeOfAnswer.get(String(body['previous_response_id']));
  const place = readPlace(format.readTexts(body)) ?? continued ?? null;
  // A title is asked for without tools; a connection is warmed up without wanting an answer.
  const isOpening = body['generate'] === false;
  const isAgent = format.hasTools(body) && !isOpening;
  const progress = place === null || !isAgent ? null : progressOf(state, place);
  if (progress !== null) noteSubAgents(progress, body);
  const said = place === null || progress === null ? SILENT : say(place, script, progress);
  const answer = format.answer(said, nextTokens(state), body);
  const model = typeof body['model'] === 'string' ? body['model'] : (MODEL_IN_PATH.exec(what)?.[1] ?? null);
  const kind = connection === null ? 'request' : 'turn';
  const { isCut } = said;
  state.ledger.push({ place, kind, what, model, tokens: answer.tokens, isCut, connection, isOpening });
  if (place !== null && answer.id !== null) state.placeOfAnswer.set(answer.id, place);
  if (place !== null && isAgent) await waitForOther(state, place);
  return { place, answer, isCut };
}

/** Since the person's last message: which sub-agents were started, and which have ended. */
function noteSubAgents({ ids, ended }: Progress, body: Json): void {
  const items = listOf(body['input']);
  // Not any message of the user's: Codex adds some of its own when a sub-agent ends.
  const asked = items.findLastIndex((item) => item['role'] === 'user' && readPlace([JSON.stringify(item)]) !== null);
  for (const item of items.slice(asked + 1)) {
    const text = JSON.stringify(item);
    if (item['type'] === AGENT_MESSAGE && text.includes('FINAL_ANSWER')) ended.add(String(item['author']));
    if (item['type'] !== 'function_call_output') continue;
    for (const [, id] of text.matchAll(AGENT_ID)) if (id !== undefined && !ids.includes(id)) ids.push(id);
  }
}

function formatOf(path: string): WireFormat | null {
  if (/^\/v1\/messages(?:\?|$)/.test(path)) return messages;
  if (path === '/v1/responses') return responses;
  return path.includes(':streamGenerateContent') ? generateContent : null;
}

const toEvent = (event: Json) =>
  `${typeof event['type'] === 'string' ? `event: ${event['type']}\n` : ''}data: ${JSON.stringify(event)}\n\n`;

async function answerRequest(state: State, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  const path = request.url ?? '';
  const what = `${request.method} ${path}`;
  const format = formatOf(path);
  if (format === null) {
    state.ledger.push({ ...NOTHING, kind: 'request', what });
    response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
    return;
  }
  const body: Json = JSON.parse(Buffer.concat(parts).toString());
  const { answer, isCut } = await answerCall(state, { format, body, what, connection: null });
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(answer.events.map(toEvent).join(''));
  if (!isCut) response.end();
}

/** A connection is of the agent whose messages it has, and so is the message without a text that warms it up. */
function answerConnection(state: State, socket: WebSocket, request: IncomingMessage): void {
  const what = `websocket ${request.url}`;
  const { ledger } = state;
  const connection = ledger.push({ ...NOTHING, kind: 'connection', what, isOpening: true }) - 1;
  socket.on('error', () => {});
  socket.on('message', (data) => {
    answerCall(state, { format: responses, body: JSON.parse(String(data)), what, connection })
      .then(({ place, answer }) => {
        for (const [index, call] of ledger.entries()) {
          const isOfIt = index === connection || call.connection === connection;
          if (isOfIt && call.place === null) ledger[index] = { ...call, place };
        }
        for (const event of answer.events) socket.send(JSON.stringify(event));
      })
      .catch((error: unknown) => socket.close(1011, String(error).slice(0, MAX_REASON)));
  });
}

export async function startSpawningProvider(): Promise<SpawningProvider> {
  const state: State = { script: null, ledger: [], progress: new Map(), placeOfAnswer: new Map(), count: 0 };
  const server = createServer((request, response) => {
    answerRequest(state, request, response).catch((error: unknown) => response.destroy(Error(String(error))));
  });
  const websockets = new WebSocketServer({ server, perMessageDeflate: false });
  websockets.on('connection', (socket, request) => answerConnection(state, socket, request));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    begin: (script) => {
      state.script = script;
      state.ledger = [];
      state.progress.clear();
      state.placeOfAnswer.clear();
    },
    ledger: () => state.ledger,
    close: async () => {
      for (const socket of websockets.clients) socket.terminate();
      websockets.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
