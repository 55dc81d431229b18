/** What each recipe of docs/clients.md needs, and which call it makes. Plain data. */
import type { RunnerName } from './runners.ts';

export type Expected = string | RegExp | null;

export interface RecipeCase {
  /** Of the block in docs/clients.md. */
  readonly recipe: string;
  readonly runner: RunnerName;
  /** The modules that it imports, as far as they are no part of the language. */
  readonly modules: readonly string[];
  readonly provider: string;
  /** As it is asked for; a pattern for agents, which choose smaller ones for titles. */
  readonly model: string | RegExp;
  /** What is run where the recipe itself is only an environment or a file. */
  readonly program?: string;
  /** Another recipe, whose text stands before. */
  readonly after?: string;
  /** Files in the home folder: the recipe itself (null), or what the page says of one. */
  readonly settings?: Readonly<Record<string, string | null>>;
  /** Where they are not `run-1`, `plan/search` and `checkout`: null where the recipe says none. */
  readonly traceId?: Expected;
  readonly spanPath?: Expected;
  readonly feature?: string | null;
  /** Looked at only where it is given. */
  readonly client?: string;
  /** Agents make as many as they want. */
  readonly makesSeveralCalls?: true;
}

type Call = Pick<RecipeCase, 'provider' | 'model'>;

const CHAT = { provider: 'openai', model: 'gpt-5.4-mini' };
const CHAT_4O = { provider: 'openai', model: 'gpt-4o-mini' };
const MESSAGES = { provider: 'anthropic', model: 'claude-haiku-4-5' };
const GENERATE = { provider: 'gemini', model: 'gemini-3.5-flash' };
const CONVERSE = { provider: 'bedrock', model: 'us.amazon.nova-lite-v1:0' };
const TOGETHER = { provider: 'together', model: 'moonshotai/Kimi-K2.6' };
const FIREWORKS = { provider: 'fireworks', model: 'accounts/fireworks/models/gpt-oss-120b' };
const DEEPSEEK = { provider: 'deepseek', model: 'deepseek-v4-flash' };

const by =
  (runner: RunnerName) =>
  (recipe: string, modules: readonly string[], call: Call): RecipeCase => ({ recipe, runner, modules, ...call });
const node = by('node');
const framework = by('node-frameworks');
const python = by('python');
const chains = by('python-chains');
const crews = by('python-crews');
const more = by('python-more');
const go = (recipe: string, call: Call) => by('go')(recipe, [], call);
const java = (recipe: string, call: Call) => by('java')(recipe, [], call);
const rust = (recipe: string, call: Call) => by('rust')(recipe, [], call);

const UNCHANGED_OPENAI = `import OpenAI from 'openai';
await new OpenAI().chat.completions.create({ model: 'gpt-5.4-mini', messages: [{ role: 'user', content: 'Hello' }] });
`;
const UNCHANGED_ANTHROPIC = `import Anthropic from '@anthropic-ai/sdk';
await new Anthropic().messages.create({
  model: 'claude-haiku-4-5', max_tokens: 64, messages: [{ role: 'user', content: 'Hello' }] });
`;

/** The same for each SDK in Python: its class, and the call. */
const unchangedPython = (module: string, made: string, method: string, { model }: Call) =>
  `from ${module} import ${made}
${made}().${method}(model="${model}", max_tokens=64, messages=[{"role": "user", "content": "Hello"}])
`;
const UNCHANGED_MEM0 = `from mem0.configs.llms.openai import OpenAIConfig
from mem0.llms.openai import OpenAILLM
OpenAILLM(OpenAIConfig(model="gpt-5.4-mini")).generate_response([{"role": "user", "content": "Hello"}])
`;
/** The environment says a run, and no place in it. */
const inEnvironment = (one: RecipeCase, program: string): RecipeCase => ({ ...one, program, spanPath: null });
const pythonInEnvironment = (modules: readonly string[], call: Call, program: string): RecipeCase =>
  inEnvironment(python('environment', modules, call), program);
/** The address says a key, and nothing else. */
const inAddress = (one: RecipeCase, program: string): RecipeCase => ({
  ...one,
  program,
  traceId: null,
  spanPath: null,
  feature: null,
});

/** Agents have headers of their own configuration: no step, and no metadata. */
const agent = (recipe: string, call: Call, more: Partial<RecipeCase>): RecipeCase => ({
  recipe,
  runner: 'agents',
  modules: [call.provider],
  ...call,
  traceId: null,
  spanPath: null,
  feature: null,
  makesSeveralCalls: true,
  ...more,
});
/** Those that name their sessions make a run of each. */
const inSession = (client: string, spanPath: Expected): Partial<RecipeCase> => ({
  client,
  traceId: new RegExp(`^${client}:.`),
  spanPath,
});
const SAY_HELLO = "'Say hello.'";
const CLAUDE = { provider: 'anthropic', model: /claude-/ };

export const RECIPE_CASES: readonly RecipeCase[] = [
  { recipe: 'curl', runner: 'shell', modules: [], ...CHAT },
  inEnvironment(node('environment', ['openai'], CHAT), UNCHANGED_OPENAI),
  inEnvironment(node('environment', ['@anthropic-ai/sdk'], MESSAGES), UNCHANGED_ANTHROPIC),
  inAddress(node('address', ['openai'], CHAT), UNCHANGED_OPENAI),
  inAddress(node('address', ['@anthropic-ai/sdk'], MESSAGES), UNCHANGED_ANTHROPIC),
  node('openai-ts', ['openai'], CHAT),
  node('anthropic-ts', ['@anthropic-ai/sdk'], MESSAGES),
  node('gemini-ts', ['@google/genai'], GENERATE),
  node('bedrock-ts', ['@aws-sdk/client-bedrock-runtime'], CONVERSE),
  node('together-ts', ['together-ai'], TOGETHER),
  node('ai-sdk', ['ai'], CHAT),
  node('one-client-ts', ['openai'], CHAT),
  framework('langchain-openai-ts', ['@langchain/openai'], CHAT),
  framework('langchain-anthropic-ts', ['@langchain/anthropic'], MESSAGES),
  framework('langgraph-ts', ['@langchain/langgraph'], CHAT),
  framework('openai-agents-ts', ['@openai/agents'], CHAT),
  framework('mastra', ['@mastra/core'], CHAT),
  framework('llamaindex-openai-ts', ['@llamaindex/openai'], CHAT_4O),
  framework('llamaindex-anthropic-ts', ['@llamaindex/anthropic'], MESSAGES),
  framework('adk-ts', ['@google/adk'], GENERATE),
  pythonInEnvironment(['openai'], CHAT, unchangedPython('openai', 'OpenAI', 'chat.completions.create', CHAT)),
  pythonInEnvironment(['anthropic'], MESSAGES, unchangedPython('anthropic', 'Anthropic', 'messages.create', MESSAGES)),
  pythonInEnvironment(
    ['together'],
    TOGETHER,
    unchangedPython('together', 'Together', 'chat.completions.create', TOGETHER),
  ),
  pythonInEnvironment(
    ['fireworks'],
    FIREWORKS,
    unchangedPython('fireworks', 'Fireworks', 'chat.completions.create', FIREWORKS),
  ),
  python('openai', ['openai'], CHAT),
  python('anthropic', ['anthropic'], MESSAGES),
  python('gemini', ['google.genai'], GENERATE),
  python('boto3', ['boto3'], CONVERSE),
  python('together', ['together'], TOGETHER),
  python('fireworks', ['fireworks'], FIREWORKS),
  python('deepseek', ['openai'], DEEPSEEK),
  python('litellm', ['litellm'], CHAT),
  python('dspy', ['dspy'], CHAT),
  python('langchain-openai', ['langchain_openai'], CHAT),
  python('langchain-anthropic', ['langchain_anthropic'], MESSAGES),
  python('pydantic-ai', ['pydantic_ai', 'openai'], CHAT),
  python('openai-agents', ['agents'], CHAT),
  python('one-client', ['openai', 'httpx2'], CHAT),
  python('anthropic-bedrock', ['anthropic', 'boto3'], {
    provider: 'bedrock',
    model: 'us.anthropic.claude-haiku-4-5-20251001-v1:0',
  }),
  chains('langgraph', ['langgraph', 'langchain_openai'], CHAT),
  chains('autogen', ['autogen_agentchat', 'autogen_ext'], CHAT_4O),
  crews('llama-index', ['llama_index.llms.openai'], CHAT_4O),
  crews('crewai', ['crewai'], CHAT_4O),
  crews('smolagents', ['smolagents'], CHAT_4O),
  by('python-google')('adk', ['google.adk'], GENERATE),
  by('python-strands')('strands', ['strands'], CHAT),
  more('langchain-gemini', ['langchain_google_genai'], GENERATE),
  { ...more('langchain-aws', ['langchain_aws'], CONVERSE), after: 'boto3', makesSeveralCalls: true },
  inEnvironment(more('environment', ['mem0'], CHAT), UNCHANGED_MEM0),
  more('haystack', ['haystack'], CHAT),
  more('agno', ['agno'], CHAT),
  more('instructor', ['instructor'], CHAT),
  go('openai-go', CHAT),
  go('anthropic-go', MESSAGES),
  go('genai-go', GENERATE),
  go('bedrock-go', CONVERSE),
  go('go-openai', CHAT),
  go('langchaingo', CHAT),
  go('eino', CHAT),
  by('go-genkit')('genkit', [], CHAT),
  java('openai-java', CHAT),
  java('anthropic-java', MESSAGES),
  java('gemini-java', GENERATE),
  java('bedrock-java', CONVERSE),
  java('langchain4j', CHAT),
  by('java-spring')('spring-ai', [], CHAT),
  rust('async-openai', CHAT),
  rust('bedrock-rust', CONVERSE),
  rust('genai-rust', CHAT),
  rust('rig', CHAT),
  agent('claude-code', CLAUDE, inSession('claude-code', 'main')),
  agent('claude-code-bedrock', { ...CLAUDE, provider: 'bedrock' }, inSession('claude-code', 'main')),
  agent('claude-agent-sdk', CLAUDE, {
    client: 'claude-agent-sdk',
    settings: { 'recipe.mjs': null },
    program: 'node recipe.mjs',
    traceId: 'run-1',
    spanPath: 'main',
  }),
  {
    ...by('python-google')('claude-agent-sdk-python', ['claude_agent_sdk'], CLAUDE),
    client: 'claude-agent-sdk',
    makesSeveralCalls: true,
  },
  agent(
    'codex',
    { provider: 'openai', model: /^gpt-/ },
    {
      ...inSession('codex', /^main\/turn-/),
      settings: { '.codex/config.toml': null },
      program: `codex exec --skip-git-repo-check ${SAY_HELLO}`,
    },
  ),
  agent(
    'gemini-cli',
    { provider: 'gemini', model: /^gemini-/ },
    {
      client: 'gemini-cli',
      settings: { '.gemini/settings.json': '{"security":{"auth":{"selectedType":"gemini-api-key"}}}' },
      traceId: 'run-1',
    },
  ),
  agent(
    'opencode',
    { ...MESSAGES, model: /^claude-haiku-4-5/ },
    {
      ...inSession('opencode', 'main'),
      settings: { 'opencode.json': null },
      program: `opencode run -m anthropic/claude-haiku-4-5 ${SAY_HELLO}`,
    },
  ),
  agent('opencode', TOGETHER, {
    ...inSession('opencode', 'main'),
    settings: { 'opencode.json': null },
    program: `opencode run -m together-by-tollgate/moonshotai/Kimi-K2.6 ${SAY_HELLO}`,
  }),
  agent('pi', MESSAGES, {
    settings: { '.pi/agent/models.json': null },
    program: `pi -p --provider anthropic --model claude-haiku-4-5 ${SAY_HELLO}`,
  }),
  agent('pi', CHAT, {
    ...inSession('pi', 'main'),
    settings: { '.pi/agent/models.json': null },
    program: `pi -p --provider openai --model gpt-5.4-mini ${SAY_HELLO}`,
  }),
  agent('qwen-code', CHAT, {
    client: 'qwen-code',
    settings: { '.qwen/settings.json': null },
    program: `qwen --model gpt-5.4-mini -p ${SAY_HELLO}`,
  }),
  agent('cline', MESSAGES, {
    settings: { '.cline/data/settings/providers.json': null },
    program: `cline ${SAY_HELLO}`,
  }),
  {
    ...agent('aider', CHAT, { settings: { '.aider.model.settings.yml': null } }),
    runner: 'aider',
    program: `OPENAI_API_BASE="http://$GATEWAY/v1" aider --model openai/gpt-5.4-mini --no-git --yes -m ${SAY_HELLO}`,
  },
  agent('continue', CHAT, { settings: { '.continue/config.yaml': null }, program: `cn -p ${SAY_HELLO}` }),
];
