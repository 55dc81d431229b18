/** What each recipe of docs/clients.md needs, and which call it makes. Plain data. */

/** How a program is run: by Python, by Node with the packages of this repository, or by the shell. */
export type Runner = 'python' | 'node' | 'sh';

export interface RecipeCase {
  /** Of the block in docs/clients.md. */
  readonly recipe: string;
  readonly runner: Runner;
  /** The modules that it imports, as far as they are no part of the language. */
  readonly modules: readonly string[];
  readonly provider: string;
  readonly model: string;
  /** A program that knows nothing of the gateway, for the recipe that is only an environment. */
  readonly program?: string;
}

const CHAT = { provider: 'openai', model: 'gpt-5.4-mini' };
const CHAT_4O = { provider: 'openai', model: 'gpt-4o-mini' };
const MESSAGES = { provider: 'anthropic', model: 'claude-haiku-4-5' };
const GENERATE = { provider: 'gemini', model: 'gemini-3.5-flash' };
const CONVERSE = { provider: 'bedrock', model: 'us.amazon.nova-lite-v1:0' };
const TOGETHER = { provider: 'together', model: 'moonshotai/Kimi-K2.6' };
const FIREWORKS = { provider: 'fireworks', model: 'accounts/fireworks/models/gpt-oss-120b' };
const DEEPSEEK = { provider: 'deepseek', model: 'deepseek-v4-flash' };

const node = (recipe: string, module: string, call: typeof CHAT): RecipeCase => ({
  recipe,
  runner: 'node',
  modules: [module],
  ...call,
});

const python = (recipe: string, modules: readonly string[], call: typeof CHAT): RecipeCase => ({
  recipe,
  runner: 'python',
  modules,
  ...call,
});

const UNCHANGED_OPENAI = `import OpenAI from 'openai';
await new OpenAI().chat.completions.create({ model: 'gpt-5.4-mini', messages: [{ role: 'user', content: 'Hello' }] });
`;
const UNCHANGED_ANTHROPIC = `import Anthropic from '@anthropic-ai/sdk';
await new Anthropic().messages.create({
  model: 'claude-haiku-4-5', max_tokens: 64, messages: [{ role: 'user', content: 'Hello' }] });
`;

/** The same for each SDK in Python: its class, and the call. */
const unchangedPython = (module: string, made: string, method: string, { model }: typeof CHAT) =>
  `from ${module} import ${made}
${made}().${method}(model="${model}", max_tokens=64, messages=[{"role": "user", "content": "Hello"}])
`;
const inEnvironment = (modules: readonly string[], call: typeof CHAT, program: string): RecipeCase => ({
  ...python('environment', modules, call),
  program,
});

export const RECIPE_CASES: readonly RecipeCase[] = [
  { recipe: 'curl', runner: 'sh', modules: [], ...CHAT },
  { ...node('environment', 'openai', CHAT), program: UNCHANGED_OPENAI },
  { ...node('environment', '@anthropic-ai/sdk', MESSAGES), program: UNCHANGED_ANTHROPIC },
  node('openai-ts', 'openai', CHAT),
  node('anthropic-ts', '@anthropic-ai/sdk', MESSAGES),
  node('gemini-ts', '@google/genai', GENERATE),
  node('bedrock-ts', '@aws-sdk/client-bedrock-runtime', CONVERSE),
  node('together-ts', 'together-ai', TOGETHER),
  node('ai-sdk', 'ai', CHAT),
  node('one-client-ts', 'openai', CHAT),
  inEnvironment(['openai'], CHAT, unchangedPython('openai', 'OpenAI', 'chat.completions.create', CHAT)),
  inEnvironment(['anthropic'], MESSAGES, unchangedPython('anthropic', 'Anthropic', 'messages.create', MESSAGES)),
  inEnvironment(['together'], TOGETHER, unchangedPython('together', 'Together', 'chat.completions.create', TOGETHER)),
  inEnvironment(
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
  python('llama-index', ['llama_index.llms.openai'], CHAT_4O),
  python('pydantic-ai', ['pydantic_ai', 'openai'], CHAT),
  python('openai-agents', ['agents'], CHAT),
  python('crewai', ['crewai'], CHAT_4O),
  python('autogen', ['autogen_agentchat', 'autogen_ext'], CHAT_4O),
  python('smolagents', ['smolagents'], CHAT_4O),
  python('one-client', ['openai', 'httpx2'], CHAT),
];

/** Blocks that others begin with. */
export const OPENINGS: Readonly<Record<Runner, string | null>> = { python: 'python', node: 'typescript', sh: null };
