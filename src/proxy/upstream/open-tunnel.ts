/** Opens a tunnel through an egress proxy (`CONNECT`, RFC 9110 9.3.6). */
import type { Socket } from 'node:net';
import { decodePercent } from '../../formats/wire/percent-decoding.ts';
import { ResponseSyntaxError, readResponseHead } from './response-head.ts';
import { UpstreamError } from './upstream-failure.ts';

const HEAD_END = '\r\n\r\n';
const MAX_ANSWER_BYTES = 64 * 1024;

/** The header line with the proxy's credentials; empty where its address has none. */
export function proxyAuthorization({ username, password }: URL): string {
  if (username === '' && password === '') return '';
  const credentials = Buffer.from(`${decodePercent(username)}:${decodePercent(password)}`);
  return `Proxy-Authorization: Basic ${credentials.toString('base64')}\r\n`;
}

/** `target` is host and port, `extraLines` header lines. Destroys the socket with the reason if refused. */
export function openTunnel(socket: Socket, target: string, extraLines: string, onOpen: () => void): void {
  let held = '';
  const onData = (bytes: Buffer): void => {
    held += bytes.toString('latin1');
    const end = held.indexOf(HEAD_END);
    if (end === -1 && held.length <= MAX_ANSWER_BYTES) return;
    socket.off('data', onData);
    socket.pause();
    try {
      const { status } = readResponseHead(held.slice(0, end));
      if (status < 200 || status > 299)
        throw new UpstreamError('PROXY_REFUSED', `The egress proxy answered ${status}.`);
      if (end + HEAD_END.length !== held.length) throw new ResponseSyntaxError('ANSWER_STATUS_LINE');
    } catch (error) {
      socket.destroy(error instanceof Error ? error : new UpstreamError('PROXY_REFUSED'));
      return;
    }
    onOpen();
  };
  socket.on('data', onData);
  socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n${extraLines}\r\n`, 'latin1');
}
