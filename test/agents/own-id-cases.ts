/**
 * How each agent is led here with base address and key alone, how it is asked, resumed and made to start sub-agents, and
 * what its own ids can tell. Settings are the recipes of docs/clients.md.
 */
import { join } from 'node:path';
import type { AgentTools, ToolCall } from './session-script.ts';

export interface Lead {
  readonly base: string;
  readonly key: string;
  /** Of the installed agents. */
  readonly modules: string;
  /** The text of a recipe of docs/clients.md, with this gateway's address. */
  readonly recipe: (name: string) => string;
}

export type Command = readonly [program: string, ...args: string[]];

export interface OwnIdCase {
  readonly name: string;
  readonly runsFrom: readonly string[];
  /**
   * `sessions`: each session is a run, with its sub-agents as nodes. `conversations`: the program sends no ids, so that each
   * conversation is a run from its first tool call on, and one of a sub-agent is one of its own.
   */
  readonly tells: 'sessions' | 'conversations';
  /** Begins the id of the session's run, where it tells sessions. */
  readonly client: string;
  readonly tools: AgentTools;
  readonly files: (lead: Lead) => Readonly<Record<string, string>>;
  readonly env: (lead: Lead) => Readonly<Record<string, string>>;
  readonly ask: (prompt: string, lead: Lead) => Command;
  /** What it prints of its own session. */
  readonly sessionId: RegExp;
  readonly resume: (id: string, prompt: string, lead: Lead) => Command;
  /** Its handshakes name no turn, so that what opens a connection stands outside the turn of the messages on it. */
  readonly opensOutsideTurn?: true;
  /** A conversation goes on in another run after it was resumed. */
  readonly losesRun?: true;
  /** What it cannot do. */
  readonly note?: string;
}

const CLAUDE_MODEL = 'claude-haiku-4-5';
/** Of a model without a code mode of its own, in which tools are no tools. */
const CODEX_MODEL = 'gpt-5.1';
/** Its agents are a team that write to one another, and each may start others. */
const CODEX_TEAM_MODEL = 'gpt-6-luna';
const GEMINI_MODEL = 'gemini-2.5-flash';

const NO_FILES = () => ({});

const claudeTools: AgentTools = {
  // Foreground and background: the one that is started after the session was resumed goes on behind its back.
  spawn: (prompt) => ({
    name: 'Agent',
    args: {
      description: 'A part',
      prompt,
      ...(prompt.includes('agent main/late') ? {} : { run_in_background: false }),
    },
  }),
  isNesting: true,
  work: { name: 'Bash', args: { command: 'true', description: 'Nothing' } },
};

const claudeEnv = ({ base, key }: Lead) => ({
  ANTHROPIC_BASE_URL: base,
  ANTHROPIC_CUSTOM_HEADERS: `X-Gateway-Key: ${key}`,
});

const claudeArgs = ['--model', CLAUDE_MODEL, '--output-format', 'json'];

const claude: OwnIdCase = {
  name: 'claude',
  runsFrom: ['agents'],
  tells: 'sessions',
  client: 'claude-code',
  tools: claudeTools,
  files: NO_FILES,
  env: claudeEnv,
  ask: (prompt) => ['claude', '-p', prompt, ...claudeArgs],
  sessionId: /"session_id":"([\w-]+)"/,
  resume: (id, prompt) => ['claude', '-p', prompt, '--resume', id, ...claudeArgs],
};

const ASK_SDK = `const { query } = await import(process.env.AGENT_SDK);
const [prompt, resume] = process.argv.slice(2);
const options = { model: '${CLAUDE_MODEL}', env: process.env, ...(resume ? { resume } : {}) };
for await (const message of query({ prompt, options }))
  if (message.type === 'result') console.log(JSON.stringify({ session_id: message.session_id }));
`;

const claudeAgentSdk: OwnIdCase = {
  ...claude,
  name: 'claude-agent-sdk',
  client: 'claude-agent-sdk',
  files: () => ({ 'shop/ask.mjs': ASK_SDK }),
  env: (lead) => ({ ...claudeEnv(lead), AGENT_SDK: join(lead.modules, '@anthropic-ai/claude-agent-sdk/sdk.mjs') }),
  ask: (prompt) => [process.execPath, 'ask.mjs', prompt],
  resume: (id, prompt) => [process.execPath, 'ask.mjs', prompt, id],
};

const ofCodex = (name: string, args: ToolCall['args']): ToolCall => ({ name, namespace: 'multi_agent_v1', args });

const WAIT_MS = 60_000;
const WEBSOCKETS_OFF = '# supports_websockets';
/** By itself Codex lets sub-agents start none. */
const CODEX_DEPTH = '\n[agents]\nmax_depth = 2\n';
const codexArgs = (model: string) => ['--skip-git-repo-check', '-m', model];

const codex: OwnIdCase = {
  name: 'codex',
  runsFrom: ['agents'],
  tells: 'sessions',
  client: 'codex',
  tools: {
    spawn: (message) => ofCodex('spawn_agent', { message }),
    isNesting: true,
    wait: (id) => ofCodex('wait_agent', { targets: [id], timeout_ms: WAIT_MS }),
    work: { name: 'exec_command', args: { cmd: 'true' } },
  },
  files: ({ recipe }) => ({ '.codex/config.toml': `${recipe('codex')}${CODEX_DEPTH}` }),
  env: ({ key }) => ({ TOLLGATE_KEY: key }),
  ask: (prompt) => ['codex', 'exec', ...codexArgs(CODEX_MODEL), prompt],
  sessionId: /^session id: ([\w-]+)$/m,
  resume: (id, prompt) => ['codex', 'exec', 'resume', ...codexArgs(CODEX_MODEL), id, prompt],
};

const ofTeam = (name: string, args: ToolCall['args']): ToolCall => ({ name, namespace: 'collaboration', args });
const WAIT_IN_TEAM_MS = 10_000;

const codexTeam: OwnIdCase = {
  ...codex,
  name: 'codex-team',
  tools: {
    spawn: (message) => {
      const task_name = /agent [a-z/]*?([a-z]+),/.exec(message)?.[1];
      return ofTeam('spawn_agent', { task_name, message, fork_turns: 'none' });
    },
    isNesting: true,
    waitForAny: ofTeam('wait_agent', { timeout_ms: WAIT_IN_TEAM_MS }),
    work: ofTeam('list_agents', {}),
  },
  files: ({ recipe }) => ({ '.codex/config.toml': recipe('codex') }),
  ask: (prompt) => ['codex', 'exec', ...codexArgs(CODEX_TEAM_MODEL), prompt],
  resume: (id, prompt) => ['codex', 'exec', 'resume', ...codexArgs(CODEX_TEAM_MODEL), id, prompt],
};

const byWebsocket = (one: OwnIdCase): OwnIdCase => ({
  ...one,
  name: `${one.name}-websocket`,
  files: (lead) => {
    const recipe = (name: string) => lead.recipe(name).replace(WEBSOCKETS_OFF, WEBSOCKETS_OFF.slice(2));
    return one.files({ ...lead, recipe });
  },
  opensOutsideTurn: true,
  note: 'handshakes and warm-ups (`generate: false`) name no turn: a sub-agent’s are at main/agent-…, its messages at main/turn-…/agent-…',
});

const opencodeArgs = ['--format', 'json', '-m', `anthropic/${CLAUDE_MODEL}`];

const opencode: OwnIdCase = {
  name: 'opencode',
  runsFrom: ['agents'],
  tells: 'sessions',
  client: 'opencode',
  tools: {
    spawn: (prompt) => ({ name: 'task', args: { description: 'A part', prompt, subagent_type: 'general' } }),
    isNesting: true,
    work: { name: 'bash', args: { command: 'true', description: 'Nothing' } },
  },
  files: ({ recipe }) => ({
    '.config/opencode/opencode.json': JSON.stringify({
      ...JSON.parse(recipe('opencode')),
      autoupdate: false,
      // By itself it lets sub-agents start none.
      subagent_depth: 2,
      agent: { general: { permission: { task: 'allow' } } },
    }),
  }),
  env: ({ key }) => ({ TOLLGATE_KEY: key }),
  ask: (prompt) => ['opencode', 'run', ...opencodeArgs, prompt],
  sessionId: /"sessionID":"(\w+)"/,
  resume: (id, prompt) => ['opencode', 'run', '--session', id, ...opencodeArgs, prompt],
};

/** With the Node that runs this: it does not start with older ones, which may come first in the path. */
const startPi = ({ modules }: Lead): Command => [process.execPath, join(modules, '.bin/pi'), '--mode', 'json'];

const pi: OwnIdCase = {
  name: 'pi',
  runsFrom: ['agents'],
  tells: 'sessions',
  client: 'pi',
  tools: { spawn: null, isNesting: false, work: { name: 'bash', args: { command: 'true' } } },
  files: ({ recipe }) => ({ '.pi/agent/models.json': recipe('pi') }),
  env: ({ key }) => ({ TOLLGATE_KEY: key }),
  ask: (prompt, lead) => [...startPi(lead), '--provider', 'openai', '--model', CODEX_MODEL, '-p', prompt],
  sessionId: /"type":"session".*?"id":"([\w-]+)"/,
  resume: (id, prompt, lead) => [
    ...startPi(lead),
    ...['--provider', 'openai', '--model', CODEX_MODEL, '--session', id, '-p', prompt],
  ],
  note: 'with OpenAI’s API; has no sub-agents',
};

const piWithAnthropic: OwnIdCase = {
  ...pi,
  name: 'pi-anthropic',
  runsFrom: ['agents', 'tool_calls'],
  tells: 'conversations',
  ask: (prompt, lead) => [...startPi(lead), '--provider', 'anthropic', '--model', CLAUDE_MODEL, '-p', prompt],
  resume: (id, prompt, lead) => [
    ...startPi(lead),
    ...['--provider', 'anthropic', '--model', CLAUDE_MODEL, '--session', id, '-p', prompt],
  ],
  note: 'sends no session: in a run from the first tool call on; has no sub-agents',
};

const geminiArgs = ['--skip-trust', '-m', GEMINI_MODEL, '--output-format', 'json'];

const gemini: OwnIdCase = {
  name: 'gemini',
  runsFrom: ['agents', 'tool_calls'],
  tells: 'conversations',
  client: 'gemini-cli',
  tools: {
    spawn: (prompt) => ({ name: 'invoke_agent', args: { agent_name: 'generalist', prompt } }),
    isNesting: false,
    work: { name: 'glob', args: { pattern: '*.md' } },
    end: { name: 'complete_task', args: { result: { response: 'done' } } },
  },
  files: () => ({ '.gemini/settings.json': '{"security":{"auth":{"selectedType":"gemini-api-key"}}}' }),
  env: ({ base, key }) => ({ GOOGLE_GEMINI_BASE_URL: base, GEMINI_CLI_CUSTOM_HEADERS: `X-Gateway-Key: ${key}` }),
  ask: (prompt) => ['gemini', ...geminiArgs, '-p', prompt],
  sessionId: /"session_id": "([\w-]+)"/,
  resume: (id, prompt) => ['gemini', ...geminiArgs, '--resume', id, '-p', prompt],
  losesRun: true,
  note: 'sends no session: in a run from the first tool call on; a sub-agent is a run of its own, and so is what is resumed',
};

export const OWN_ID_CASES: readonly OwnIdCase[] = [
  claude,
  claudeAgentSdk,
  codex,
  byWebsocket(codex),
  codexTeam,
  byWebsocket(codexTeam),
  opencode,
  gemini,
  pi,
  piWithAnthropic,
];
