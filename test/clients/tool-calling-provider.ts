/**
 * Stands in for a model that wants one tool, `list_runs` of an MCP server, and then repeats what that said: in Anthropic's
 * Messages and OpenAI's Responses, as streams. Claude Code offers such tools only after they were searched for.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

type Json = Readonly<Record<string, unknown>>;

export interface ToolCallingProvider {
  readonly origin: string;
  /** What the tool said so far, as JSON. */
  readonly answers: readonly string[];
  /** From now on the tool is asked until it tells of so many runs. */
  readonly wantRuns: (count: number) => void;
  readonly close: () => Promise<void>;
}

interface Asked {
  readonly answers: string[];
  wanted: number;
}

const SEARCH = 'ToolSearch';
const OF_CLAUDE = 'mcp__tollgate__list_runs';
const OWN = 'list_runs';
const MAX_ASKED = 30;

const listOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? value : []);

export async function startToolCallingProvider(): Promise<ToolCallingProvider> {
  const asked: Asked = { answers: [], wanted: 1 };
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body: Json = parts.length === 0 ? {} : JSON.parse(Buffer.concat(parts).toString());
      const path = request.url ?? '';
      const isMessages = path.startsWith('/v1/messages') && !path.includes('count_tokens');
      const events = isMessages
        ? answerMessages(body, asked)
        : path === '/v1/responses'
          ? answerResponses(body, asked)
          : null;
      if (events === null) {
        response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
        return;
      }
      const text = events.map((event) => `event: ${event['type']}\ndata: ${JSON.stringify(event)}\n\n`).join('');
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    answers: asked.answers,
    wantRuns: (count) => {
      asked.wanted = count;
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** A run is in the log a moment after its first call, so it is asked for until it is there. */
function isEnough(said: readonly Json[], { answers, wanted }: Asked): boolean {
  const last = said.at(-1);
  if (last === undefined) return false;
  const text = JSON.stringify(last);
  answers.push(text);
  return text.split('trace_id').length > wanted || said.length >= MAX_ASKED;
}

function answerMessages(body: Json, asked: Asked): readonly Json[] {
  const results = listOf(body['messages'])
    .flatMap(({ content }) => listOf(content))
    .filter(({ type }) => type === 'tool_result');
  const names = listOf(body['tools']).map(({ name }) => name);
  const said = results.filter(({ tool_use_id: id }) => String(id).startsWith('toolu_list'));
  if (isEnough(said, asked) || !names.includes(SEARCH))
    return message(body, { type: 'text', text: '' }, 'text_delta', 'done');
  if (results.length === 0) {
    const search = { type: 'tool_use', id: 'toolu_search', name: SEARCH, input: {} };
    return message(body, search, 'input_json_delta', `{"query":"select:${OF_CLAUDE}","max_results":1}`);
  }
  return message(
    body,
    { type: 'tool_use', id: `toolu_list_${said.length}`, name: OF_CLAUDE, input: {} },
    'input_json_delta',
    '{"limit":5}',
  );
}

function message(body: Json, block: Json, delta: 'text_delta' | 'input_json_delta', text: string): readonly Json[] {
  const stop_reason = delta === 'text_delta' ? 'end_turn' : 'tool_use';
  const head = { id: 'msg_1', type: 'message', role: 'assistant', model: body['model'], content: [] };
  return [
    { type: 'message_start', message: { ...head, stop_reason: null, usage: { input_tokens: 3, output_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: block },
    {
      type: 'content_block_delta',
      index: 0,
      delta: { type: delta, [delta === 'text_delta' ? 'text' : 'partial_json']: text },
    },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 2 } },
    { type: 'message_stop' },
  ];
}

function answerResponses(body: Json, asked: Asked): readonly Json[] {
  const outputs = listOf(body['input']).filter(({ type }) => type === 'function_call_output');
  // The tools of an MCP server stand in a namespace of its own.
  const namespaces = listOf(body['tools']).filter(({ type, tools }) => type === 'namespace' && hasOwn(tools));
  const [namespace] = namespaces;
  const isAsked = !isEnough(outputs, asked) && namespace !== undefined;
  const number = outputs.length;
  const call = {
    type: 'function_call',
    id: `fc_${number}`,
    call_id: `call_${number}`,
    name: OWN,
    namespace: namespace?.['name'],
  };
  const text = { type: 'output_text', text: 'done', annotations: [] };
  const item = isAsked
    ? { ...call, arguments: '{"limit":5}', status: 'completed' }
    : { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [text] };
  const usage = { input_tokens: 3, output_tokens: 2, total_tokens: 5 };
  const response = {
    id: 'resp_1',
    object: 'response',
    model: body['model'],
    output: [item],
    status: 'completed',
    usage,
  };
  return [
    { type: 'response.created', response: { ...response, output: [], status: 'in_progress', usage: null } },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response },
  ];
}

function hasOwn(tools: unknown): boolean {
  return listOf(tools).some(({ name }) => name === OWN);
}
