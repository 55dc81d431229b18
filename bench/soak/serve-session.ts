/**
 * The provider's side of a planned websocket session, on a bare socket: every byte as planned, cut or reset where the
 * plan says so; and whether what came of the client was its plan's bytes. It knows no protocol beyond the handshake.
 */
import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallPlan } from '../kill/call-plan.ts';
import type { ServeSession } from '../kill/ledger-provider.ts';
import type { SessionPlan } from '../kill/session-plan.ts';

/** RFC 6455 1.3. */
const ACCEPT_SUFFIX = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
/** A reset would overtake and destroy what was written just before. */
const RESET_WAIT_MS = 20;
/** For the last bytes of the client, behind everything that was told it. */
const LINGER_MS = 5_000;

export interface SessionServer {
  readonly serve: ServeSession;
  /** Calls of which other bytes came than their client has sent. */
  readonly misread: ReadonlySet<string>;
}

export function createSessionServer(): SessionServer {
  const misread = new Set<string>();

  const serve: ServeSession = async (plan, socket, { headers, head }, onWrite) => {
    const { session, trouble } = plan;
    await sleep(plan.pauseMs);
    if (session === undefined || trouble?.kind === 'reset-before-head') {
      socket.resetAndDestroy();
      return;
    }
    if (trouble?.kind === 'error') {
      socket.end(formatRefusal(trouble.status, trouble.body));
      return;
    }
    const arrived = followBytes(socket, head, session.clientBytes, () => misread.add(plan.id));
    if (trouble?.kind === 'stall' && trouble.pieces === 0) await sleep(trouble.ms);
    socket.write(formatSwitch(String(headers['sec-websocket-key'] ?? ''), session.extensions));
    if (await breaksBehind(plan, 0, socket)) return;
    for (const [index, { behindBytes, pauseMs, bytes }] of session.fromProvider.entries()) {
      if (!(await arrived.waitFor(behindBytes))) {
        socket.destroy();
        return;
      }
      await sleep(pauseMs);
      if (socket.destroyed) return;
      onWrite(bytes);
      socket.write(bytes);
      if (await breaksBehind(plan, index + 1, socket)) return;
      if (trouble?.kind === 'stall' && trouble.pieces === index + 1) await sleep(trouble.ms);
    }
    await Promise.race([arrived.waitFor(session.clientBytes.length), sleep(LINGER_MS, undefined, { ref: false })]);
    socket.end();
  };

  return { serve, misread };
}

function formatRefusal(status: number, body: string): string {
  const length = Buffer.byteLength(body);
  return `HTTP/1.1 ${status} No\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\nConnection: close\r\n\r\n${body}`;
}

function formatSwitch(key: string, extensions: string | null): string {
  const accept = createHash('sha1').update(`${key}${ACCEPT_SUFFIX}`).digest('base64');
  const extended = extensions === null ? '' : `Sec-WebSocket-Extensions: ${extensions}\r\n`;
  return `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n${extended}\r\n`;
}

interface ArrivedBytes {
  /** False: the connection is gone, and they will never come. */
  readonly waitFor: (bytes: number) => Promise<boolean>;
}

/** What came of the client so far; `onOther` is called when it is not the beginning of `planned`. */
function followBytes(
  socket: Socket,
  head: Buffer,
  planned: SessionPlan['clientBytes'],
  onOther: () => void,
): ArrivedBytes {
  // Mutable because the bytes come piece by piece.
  let came = 0;
  let wake: () => void = () => {};

  function take(chunk: Buffer): void {
    if (!chunk.equals(planned.subarray(came, came + chunk.length))) onOther();
    came += chunk.length;
    wake();
  }

  take(head);
  socket.on('data', take);
  socket.once('end', () => wake());
  socket.once('close', () => wake());
  return {
    async waitFor(bytes) {
      while (came < bytes) {
        if (socket.destroyed || socket.readableEnded) return false;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      return true;
    },
  };
}

/** True when that was the end of the connection. */
async function breaksBehind({ trouble }: CallPlan, pieces: number, socket: Socket): Promise<boolean> {
  if ((trouble?.kind !== 'reset' && trouble?.kind !== 'cut') || trouble.pieces !== pieces) return false;
  await sleep(RESET_WAIT_MS);
  if (trouble.kind === 'reset') socket.resetAndDestroy();
  else socket.destroySoon();
  return true;
}
