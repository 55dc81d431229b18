/**
 * A local provider that answers each call as its plan says and keeps a ledger of the calls that reached it: what the
 * log must not lack. The call's number comes in the header `x-call-id`, which the gateway forwards like any other.
 */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type CallPlan, numberOf, type ProviderTrouble } from './call-plan.ts';

/** A reset would overtake and destroy what was written just before. */
const RESET_WAIT_MS = 20;

export interface LedgerProvider {
  readonly origin: string;
  /** How often each call arrived, by id. */
  readonly ledger: ReadonlyMap<string, number>;
  /** What it has written of its answer to each call, as text; of a websocket as Latin-1. */
  readonly written: ReadonlyMap<string, string>;
  /** Connections, and those of them on which an answer is owed. */
  readonly connections: () => { readonly open: number; readonly busy: number };
  readonly close: () => Promise<void>;
}

export interface LedgerProviderOptions {
  readonly planOf: (n: number) => CallPlan;
  /** Waited for after the first piece of each stream. */
  readonly afterFirstPiece?: (callId: string) => Promise<void>;
  /** Answers the handshake of a websocket, and whatever follows; without it there is none. */
  readonly serveSession?: ServeSession;
}

/** `head` came behind the handshake. `onWrite` is told every byte of the session before it goes out. */
export type ServeSession = (
  plan: CallPlan,
  socket: Socket,
  request: { readonly headers: IncomingHttpHeaders; readonly head: Buffer },
  onWrite: (bytes: Buffer) => void,
) => Promise<void>;

export async function startLedgerProvider(options: LedgerProviderOptions): Promise<LedgerProvider> {
  const ledger = new Map<string, number>();
  const written = new Map<string, string>();
  const sockets = new Set<Socket>();
  const busy = new Set<Socket>();

  function note({ headers }: IncomingMessage): string {
    const callId = String(headers['x-call-id'] ?? '');
    ledger.set(callId, (ledger.get(callId) ?? 0) + 1);
    return callId;
  }

  function noteWritten(callId: string, text: string): void {
    written.set(callId, (written.get(callId) ?? '') + text);
  }

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const callId = note(incoming);
    const body = await readBody(incoming);
    const n = numberOf(callId);
    if (n === null) {
      outgoing.writeHead(400).end();
      return;
    }
    const plan = options.planOf(n);
    const trouble = plan.trouble ?? null;
    await sleep(plan.pauseMs);
    if (trouble?.kind === 'reset-before-head') {
      outgoing.socket?.resetAndDestroy();
    } else if (trouble?.kind === 'error') {
      const length = Buffer.byteLength(trouble.body);
      outgoing.writeHead(trouble.status, { 'content-type': 'application/json', 'content-length': length });
      outgoing.end(trouble.body);
    } else {
      await answerInPieces(callId, plan, plan.answer(body.includes('"include_usage":true')), outgoing);
    }
  }

  async function answerInPieces(
    callId: string,
    plan: CallPlan,
    pieces: readonly string[],
    outgoing: ServerResponse,
  ): Promise<void> {
    const trouble = plan.trouble ?? null;
    const isStream = plan.contentType === 'text/event-stream';
    const length = Buffer.byteLength(pieces.join(''));
    await stallBehind(trouble, 0);
    outgoing.writeHead(200, {
      'content-type': plan.contentType,
      ...(isStream ? {} : { 'content-length': length }),
    });
    if (trouble?.kind === 'reset' || trouble?.kind === 'cut') outgoing.flushHeaders();
    if (await breaksBehind(trouble, 0, outgoing)) return;
    for (const [index, piece] of pieces.entries()) {
      if (index > 0) await sleep(plan.pauseMs);
      if (outgoing.destroyed) return;
      noteWritten(callId, piece);
      outgoing.write(piece);
      if (index === 0 && isStream) await options.afterFirstPiece?.(callId);
      if (await breaksBehind(trouble, index + 1, outgoing)) return;
      await stallBehind(trouble, index + 1);
    }
    const { socket } = outgoing;
    outgoing.end(() => {
      if (trouble?.kind === 'close-idle' && socket !== null) closeWhenIdle(socket, trouble.afterMs);
    });
  }

  function closeWhenIdle(socket: Socket, afterMs: number): void {
    const timer = setTimeout(() => {
      if (!busy.has(socket)) socket.end();
    }, afterMs);
    socket.once('close', () => clearTimeout(timer));
  }

  const server = createServer({ noDelay: true, keepAliveTimeout: 120_000 }, (incoming, outgoing) => {
    const { socket } = incoming;
    // Closed from here before the request came: it has not reached anybody.
    if (socket.writableEnded) {
      socket.destroy();
      return;
    }
    busy.add(socket);
    outgoing.once('close', () => busy.delete(socket));
    outgoing.on('error', () => {}); // The gateway was killed.
    answer(incoming, outgoing).catch(() => outgoing.destroy());
  });
  const { serveSession } = options;
  if (serveSession !== undefined) {
    server.on('upgrade', (incoming: IncomingMessage, stream, head: Buffer) => {
      const { socket } = incoming;
      const callId = note(incoming);
      const n = numberOf(callId);
      if (n === null) {
        stream.destroy();
        return;
      }
      busy.add(socket);
      socket.on('error', () => {}); // The gateway was killed.
      const onWrite = (bytes: Buffer) => noteWritten(callId, bytes.toString('latin1'));
      serveSession(options.planOf(n), socket, { headers: incoming.headers, head }, onWrite).catch(() =>
        stream.destroy(),
      );
    });
  }
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => {
      sockets.delete(socket);
      busy.delete(socket);
    });
  });
  await new Promise<void>((resolve) => server.listen({ port: 0, host: '127.0.0.1', backlog: 2_048 }, resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    origin: `http://127.0.0.1:${address.port}`,
    ledger,
    written,
    connections: () => ({ open: sockets.size, busy: busy.size }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        // Those of websockets are not the server's any more.
        for (const socket of sockets) socket.destroy();
      }),
  };
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk)));
  return Buffer.concat(chunks).toString();
}

function stallBehind(trouble: ProviderTrouble | null, pieces: number): Promise<void> {
  return trouble?.kind === 'stall' && trouble.pieces === pieces ? sleep(trouble.ms) : Promise.resolve();
}

/** True when that was the end of the connection. */
async function breaksBehind(
  trouble: ProviderTrouble | null,
  pieces: number,
  outgoing: ServerResponse,
): Promise<boolean> {
  if ((trouble?.kind !== 'reset' && trouble?.kind !== 'cut') || trouble.pieces !== pieces) return false;
  await sleep(RESET_WAIT_MS);
  if (trouble.kind === 'reset') outgoing.socket?.resetAndDestroy();
  else outgoing.socket?.destroySoon();
  return true;
}
