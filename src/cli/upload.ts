/** Streams a body. `fetch` would limit the wait for the answer and lose one that comes early. */
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { Readable } from 'node:stream';
import { OperatorError } from '../vocabulary/errors.ts';

/** An answer may arrive after the sending has failed. */
const LATE_ANSWER_MS = 2_000;

/** Resolves for every status. Rejects with the body's error, and when no gateway answers. */
export async function upload(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: AsyncIterable<Uint8Array>,
): Promise<Response> {
  const send = url.startsWith('https:') ? requestHttps : requestHttp;
  const request = send(url, { method: 'POST', headers: { ...headers, 'content-type': 'application/zstd' } });
  const source = Readable.from(body, { objectMode: true, highWaterMark: 1 });
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  request.once('response', resolve);
  const describeBreak = (cause: unknown): OperatorError =>
    new OperatorError(`the connection to ${url} broke; nothing was changed unless the gateway says so`, { cause });
  let late: NodeJS.Timeout | undefined;
  request.on('error', (cause) => {
    // It holds the process, which has nothing else to wait for.
    late ??= setTimeout(() => reject(describeBreak(cause)), LATE_ANSWER_MS);
  });
  source.once('error', (error) => {
    request.destroy();
    reject(error);
  });
  source.pipe(request);
  try {
    const response = await promise;
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of response) chunks.push(Buffer.from(chunk));
    } catch (cause) {
      throw describeBreak(cause);
    }
    return new Response(Buffer.concat(chunks), { status: response.statusCode ?? 500 });
  } finally {
    clearTimeout(late);
    source.destroy();
    request.destroy();
  }
}
