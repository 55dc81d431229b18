/**
 * The official SDKs against a gateway with TLS at `BASE`, trusting what the environment says and no more: a program of its
 * own, since `NODE_EXTRA_CA_CERTS` is read at the start of one. Prints what worked, by the protocol that was agreed on;
 * ends with the first failure.
 */
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { Agent, buildConnector, setGlobalDispatcher } from 'undici';

const { BASE: base = '', KEY: key = '' } = process.env;
const HELLO = [{ role: 'user', content: 'Hello' }] as const;
const headers = { 'X-Gateway-Key': key, 'X-Gateway-Provider-Alias': 'demo' };
const MODEL = { model: 'gemini-2.5-flash', contents: 'Hello' };
const worked: Record<string, string[]> = {};

/** Every connection of `fetch` from now on; the protocols that they agreed on. */
function connectBy(allowH2: boolean): ReadonlySet<string> {
  const protocols = new Set<string>();
  const connector = buildConnector({ allowH2 });
  const connect: buildConnector.connector = (options, callback) =>
    connector(options, (...[error, socket]) => {
      if (socket !== null && 'alpnProtocol' in socket) protocols.add(String(socket.alpnProtocol));
      if (error === null) callback(null, socket);
      else callback(error, null);
    });
  setGlobalDispatcher(new Agent({ allowH2, connect }));
  return protocols;
}

async function readAll(stream: AsyncIterable<unknown>): Promise<void> {
  let events = 0;
  for await (const _ of stream) events += 1;
  if (events < 2) throw new Error('a stream came in one piece');
}

for (const allowH2 of [false, true]) {
  const protocols = connectBy(allowH2);
  const openai = new OpenAI({ apiKey: 'sk-1', baseURL: `${base}/v1`, defaultHeaders: headers, maxRetries: 0 });
  const anthropic = new Anthropic({ apiKey: 'sk-ant-1', baseURL: base, defaultHeaders: headers, maxRetries: 0 });
  const gemini = new GoogleGenAI({ apiKey: 'AIza-1', httpOptions: { baseUrl: base, headers } });
  const chat = { model: 'gpt-4o-mini', messages: [...HELLO] };
  const message = { model: 'claude-haiku-4-5', max_tokens: 99, messages: [...HELLO] };
  const done: string[] = [];
  await openai.chat.completions.create(chat);
  done.push('openai');
  await readAll(await openai.chat.completions.create({ ...chat, stream: true }));
  done.push('openai stream');
  await anthropic.messages.create(message);
  done.push('anthropic');
  await readAll(anthropic.messages.stream(message));
  done.push('anthropic stream');
  await gemini.models.generateContent(MODEL);
  done.push('google-genai');
  await readAll(await gemini.models.generateContentStream(MODEL));
  done.push('google-genai stream');
  worked[[...protocols].join()] = done;
}

const live = new GoogleGenAI({
  apiKey: 'AIza-1',
  httpOptions: { baseUrl: base, headers: { ...headers, 'X-Gateway-Provider-Alias': 'live' } },
});
await new Promise<void>((resolve, reject) => {
  const session = live.live.connect({
    model: 'gemini-live-2.5-flash',
    callbacks: {
      onmessage: (answer) => {
        if (answer.serverContent?.turnComplete !== true) return;
        worked['websocket'] = ['google-genai live'];
        session.then((opened) => opened.close(), reject);
        resolve();
      },
      onerror: ({ message }) => reject(new Error(message)),
    },
  });
  session.then((opened) => opened.sendClientContent({ turns: 'Hello', turnComplete: true }), reject);
});
process.stdout.write(JSON.stringify(worked));
process.exit(0);
