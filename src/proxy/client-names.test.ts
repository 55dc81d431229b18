import { expect, test } from 'vitest';
import { ClientNames } from './client-names.ts';

test.each([
  ['OpenAI/JS 7.59.0', 'OpenAI/JS'],
  ['OpenAI/Python 3.57.0', 'OpenAI/Python'],
  ['AsyncOpenAI/Python 3.57.0', 'OpenAI/Python'],
  ['AsyncAzureOpenAI/Python 3.57.0', 'AzureOpenAI/Python'],
  ['AsyncAnthropic/Python 2.14.0', 'Anthropic/Python'],
  ['AsyncAnthropicBedrock/Python 2.14.0', 'AnthropicBedrock/Python'],
  ['AsyncTogether/Python 3.1.1', 'Together/Python'],
  ['AsyncFireworks/Python 1.2.30', 'Fireworks/Python'],
  ['OpenAIClientImpl/Java 4.0.0', 'OpenAI/Java'],
  ['OpenAIClientAsyncImpl/Java 4.0.0', 'OpenAI/Java'],
  ['AnthropicClientImpl/Java 2.0.0', 'Anthropic/Java'],
  ['AnthropicClientAsyncImpl/Java 2.0.0', 'Anthropic/Java'],
  ['google-genai-sdk/3.6.1 gl-python/3.11.7', 'google-genai-sdk'],
  ['google-genai-sdk/3.6.1 gl-python/3.11.7 pydantic-ai/2.62.0', 'pydantic-ai'],
  ['google-genai-sdk/3.6.1 gl-python/3.11.7 langchain-google-genai/4.4.3-ChatGoogleGenerativeAI', 'langchain'],
  ['langchainjs-openai/1.0.0 ((node/v20.20.2; linux; x64))', 'langchain'],
  ['Agents/JavaScript 0.20.0', 'openai-agents'],
  ['ai/6.0.326 ai-sdk/provider-utils/4.0.66 runtime/node.js/v20.20.2', 'ai-sdk'],
  ['GeminiCLI-tui/0.61.0/gemini-2.5-pro (linux; x64; terminal)', 'gemini-cli'],
  ['QwenCode/0.15.10 (linux; x64)', 'qwen-code'],
  ['claude-cli/2.1.197 (external, sdk-cli)', 'claude-code'],
  ['codex_cli_rs/0.171.0 (Debian 12.0.0; x86_64)', 'codex'],
  ['opencode/1.18.33 ai-sdk/provider-utils/4.0.46', 'opencode'],
  ['google-genai-sdk/2.34.0 gl-python/3.11.7 google-adk/2.13.0 gl-python/3.11.7', 'google-adk'],
  ['google-genai-sdk/2.32.0 gl-node/v20.20.2, google-adk/2.0.0 gl-typescript/v20.20.2', 'google-adk'],
  ['langchain4j-openai', 'langchain4j'],
  ['LangChain4j', 'langchain4j'],
  ['Java-http-client/17.0.9', 'Java-http-client'],
  ['Go-http-client/1.1', 'Go-http-client'],
  ['Boto3/1.44.8 md/Botocore#1.44.8', 'Boto3'],
  ['python-httpx/0.27.0 (x)', 'python-httpx'],
  ['ai-sdk/openai/3.0.141 ai-sdk/provider-utils/4.0.66', 'ai-sdk'],
  ['node-fetch', 'node-fetch'],
  ['Async/1.0', 'Async'],
])('%s is %s', (userAgent, name) => {
  expect(new ClientNames().read(userAgent, () => undefined).name).toBe(name);
});

test('who says nothing has no name', () => {
  for (const nothing of [undefined, '', '  '])
    expect(new ClientNames().read(nothing, () => undefined)).toMatchObject({ name: null, client: null });
});
