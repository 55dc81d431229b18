/**
 * The client's side of a planned websocket session, on a bare socket: every byte as planned, and everything that came,
 * with its times. It knows no protocol beyond the handshake, and never tries a call again.
 */
import type { Socket } from 'node:net';
import type { CallPlan } from '../kill/call-plan.ts';
import {
  type AnswerEnd,
  type Arrival,
  type Head,
  listHeaders,
  openConnection,
  type RawAnswer,
  readHead,
} from '../kill/raw-client.ts';
import type { SessionPlan } from '../kill/session-plan.ts';

/** Longer than any session of a plan, and than a rolling restart lets one go on. */
const SESSION_LIMIT_MS = 60_000;
const SWITCHED = 101;
/** A request without a body has none of these. */
const LEFT_OUT = ['Content-Type', 'Content-Length'];

/** On a connection of its own. `complete`: every byte has come, and behind them the end. */
export async function makeSession(
  plan: CallPlan,
  session: SessionPlan,
  port: number,
  gatewayKey: string,
): Promise<RawAnswer> {
  const socket = await openConnection(port);
  return socket === null
    ? { ending: 'refused' }
    : follow(socket, plan, session, formatHandshake(plan, session, port, gatewayKey));
}

function formatHandshake(plan: CallPlan, { extensions }: SessionPlan, port: number, gatewayKey: string): string {
  return [
    `GET ${plan.path} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${Buffer.from(plan.id.padEnd(16).slice(0, 16)).toString('base64')}`,
    ...(extensions === null ? [] : [`Sec-WebSocket-Extensions: ${extensions}`]),
    ...listHeaders(plan, gatewayKey)
      .filter(([name]) => !LEFT_OUT.includes(name))
      .map(([name, value]) => `${name}: ${value}`),
    '\r\n',
  ].join('\r\n');
}

function follow(socket: Socket, plan: CallPlan, session: SessionPlan, handshake: string): Promise<AnswerEnd> {
  const { abort } = plan;
  return new Promise((resolve) => {
    // Mutable because the bytes come piece by piece.
    let pending: Buffer = Buffer.alloc(0);
    let head: Head | null = null;
    const arrivals: Arrival[] = [];
    let came = 0;
    let said = 0;
    let isSaying = false;
    let isSettled = false;

    function settle(ending: AnswerEnd['ending']): void {
      if (isSettled) return;
      isSettled = true;
      clearTimeout(limit);
      clearTimeout(impatience);
      socket.destroy();
      resolve({
        ending,
        status: head?.status ?? null,
        gatewayError: head?.gatewayError ?? null,
        body: head?.reader.body() ?? Buffer.alloc(0),
        wasReused: false,
        arrivals,
      });
    }

    function onData(bytes: Buffer): void {
      if (isSettled) return;
      if (head !== null) {
        onBody(head, bytes);
        return;
      }
      pending = Buffer.concat([pending, bytes]);
      const read = readHead(pending);
      if (read === null) return;
      head = read.head;
      onBody(head, pending.subarray(read.length));
    }

    function onBody({ status, reader }: Head, bytes: Buffer): void {
      reader.push(bytes);
      if (reader.isDone()) settle('complete');
      if (status !== SWITCHED) return;
      came += bytes.length;
      arrivals.push({ bytes: came, atMs: performance.now() });
      if (abort?.kind === 'mid-body' && came >= abort.bytes) settle('aborted');
      else sayNext();
    }

    /** One after the other, each when what it answers has come. */
    function sayNext(): void {
      const step = session.fromClient[said];
      if (isSaying || isSettled || step === undefined || came < step.behindBytes) return;
      isSaying = true;
      setTimeout(() => {
        isSaying = false;
        if (isSettled) return;
        said += 1;
        socket.write(step.bytes);
        sayNext();
      }, step.pauseMs);
    }

    const onEnd = () => settle(came === session.providerBytes.length ? 'complete' : 'cut');
    const limit = setTimeout(() => settle('stuck'), SESSION_LIMIT_MS);
    const impatience =
      abort?.kind === 'before-head'
        ? setTimeout(() => {
            if (head === null) settle('aborted');
          }, abort.afterMs)
        : undefined;
    socket.on('data', onData);
    // The end, and not a reset, is what says that the session is over.
    socket.once('end', onEnd);
    socket.once('close', () => settle('cut'));
    if (socket.destroyed) settle('cut');
    else socket.write(handshake);
  });
}
