/**
 * A provider that keeps books: every call that reaches it costs what its answer says, by the run, whatever becomes of the
 * answer. Budgets are judged by these books. What it does with a call stands in the call's `metadata`.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocketServer } from 'ws';
import { z } from 'zod';

/** How a call ends, as its client has planned it. */
export const ENDINGS = ['json', 'stream', 'cut-json', 'cut-stream', 'abort', 'error', 'no-usage'] as const;
export type Ending = (typeof ENDINGS)[number];

const Asked = z.object({
  stream: z.boolean().optional(),
  max_tokens: z.number().default(100),
  messages: z.array(z.object({ content: z.string() })),
  metadata: z.object({ run: z.string(), ending: z.enum(ENDINGS), output: z.string(), delay: z.string() }),
});
type Asked = z.infer<typeof Asked>;

/** A turn of a Responses websocket. */
const AskedTurn = z.object({
  max_output_tokens: z.number(),
  input: z.string(),
  metadata: z.object({ run: z.string(), output: z.string() }),
});

export interface BillingProvider {
  readonly origin: string;
  /** Tokens of prompts and of answers, by run. */
  readonly booksOf: (run: string) => { readonly prompt: number; readonly output: number; readonly calls: number };
  readonly close: () => Promise<void>;
}

export async function startBillingProvider(): Promise<BillingProvider> {
  const books = new Map<string, { prompt: number; output: number; calls: number }>();

  function bookCall(asked: Asked) {
    const prompt = asked.messages.reduce((sum, { content }) => sum + Math.ceil(content.length / 4), 3);
    return book(asked.metadata.run, prompt, Math.min(Number(asked.metadata.output), asked.max_tokens));
  }

  function book(run: string, prompt: number, written: number): { readonly prompt: number; readonly output: number } {
    const sums = books.get(run) ?? { prompt: 0, output: 0, calls: 0 };
    books.set(run, sums);
    sums.calls += 1;
    sums.prompt += prompt;
    sums.output += written;
    return { prompt, output: written };
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const asked = Asked.parse(JSON.parse(Buffer.concat(chunks).toString()));
    const { ending, delay } = asked.metadata;
    if (ending === 'error') {
      await sleep(Number(delay));
      response.writeHead(500, { 'content-type': 'application/json' });
      response.end('{"error":{"message":"no","type":"server_error"}}');
      return;
    }
    const { prompt, output } = bookCall(asked);
    const usage = { prompt_tokens: prompt, completion_tokens: output, total_tokens: prompt + output };
    await sleep(Number(delay));
    if (asked.stream === true) await stream(response, ending, usage);
    else writeJson(response, ending, usage);
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  const websockets = new WebSocketServer({ server });
  websockets.on('connection', (session) => {
    session.on('error', () => {});
    session.on('message', (data) => {
      const asked = AskedTurn.parse(JSON.parse(String(data)));
      const most = Math.min(Number(asked.metadata.output), asked.max_output_tokens);
      const { prompt, output } = book(asked.metadata.run, 3 + Math.ceil(asked.input.length / 4), most);
      const response = { id: `resp_${prompt}_${output}`, model: 'gpt-4o-mini' };
      session.send(JSON.stringify({ type: 'response.created', response: { id: response.id } }));
      const usage = { input_tokens: prompt, output_tokens: output, total_tokens: prompt + output };
      session.send(JSON.stringify({ type: 'response.completed', response: { ...response, usage } }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    booksOf: (run) => books.get(run) ?? { prompt: 0, output: 0, calls: 0 },
    close: async () => {
      for (const session of websockets.clients) session.terminate();
      websockets.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function writeJson(response: ServerResponse, ending: Ending, usage: object): void {
  const body = JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    model: 'gpt-4o-mini',
    choices: [{ index: 0, message: { role: 'assistant', content: 'well' }, finish_reason: 'stop' }],
    ...(ending === 'no-usage' ? {} : { usage }),
  });
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': String(body.length) });
  if (ending !== 'cut-json') {
    response.end(body);
    return;
  }
  response.write(body.slice(0, 40));
  setTimeout(() => response.destroy(), 2);
}

async function stream(response: ServerResponse, ending: Ending, usage: object): Promise<void> {
  const event = (data: object | string) =>
    response.write(`data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const chunk = { id: 'chatcmpl-1', object: 'chat.completion.chunk', model: 'gpt-4o-mini' };
  for (let part = 0; part < 3; part += 1) {
    event({ ...chunk, choices: [{ index: 0, delta: { content: 'well ' }, finish_reason: null }] });
    await sleep(1);
    if (ending === 'cut-stream' && part === 1) {
      response.destroy();
      return;
    }
  }
  event({ ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
  if (ending !== 'no-usage') event({ ...chunk, choices: [], usage });
  event('[DONE]');
  response.end();
}
