/** The snippets of clients for Node: whole programs that make one call. */
import {
  clientHeaders,
  headerLines,
  joinLines,
  keyVariable,
  runHeaders,
  type Snippet,
  type SnippetSettings,
} from './snippet-words.ts';

const TRACE = 'const traceId = crypto.randomUUID(); // the same for all calls of one run';

function keyOf(settings: SnippetSettings): string {
  const variable = keyVariable(settings);
  return variable === null ? JSON.stringify(settings.keyPlaceholder) : `process.env.${variable}`;
}

function ownHeaders(settings: SnippetSettings, indent: string): readonly string[] {
  return headerLines(clientHeaders(settings, keyOf(settings)), indent);
}

function stepHeaders(indent: string): readonly string[] {
  return headerLines(runHeaders('traceId'), indent);
}

function openaiNode(settings: SnippetSettings): Snippet {
  const { baseUrl, withRun } = settings;
  const code = joinLines(
    'import OpenAI from "openai";',
    '',
    'const openai = new OpenAI({',
    `  baseURL: "${baseUrl}/v1",`,
    '  defaultHeaders: {',
    ownHeaders(settings, '    '),
    '  },',
    '});',
    withRun && TRACE,
    '',
    'const answer = await openai.chat.completions.create(',
    '  { model: "gpt-5.4-mini", messages: [{ role: "user", content: "Say hello." }] },',
    withRun && ['  {', '    headers: {', ...stepHeaders('      '), '    },', '  },'],
    ');',
    'console.log(answer.choices[0].message.content);',
  );
  const pitfall =
    'Keep /v1 in the base address. Azure and realtime clients are others: realtime uses WebSocket, which is not relayed.';
  return { id: 'openai-node', label: 'OpenAI SDK, Node', language: 'js', filename: 'hello.mjs', code, pitfall };
}

function anthropicNode(settings: SnippetSettings): Snippet {
  const { baseUrl, withRun } = settings;
  const code = joinLines(
    'import Anthropic from "@anthropic-ai/sdk";',
    '',
    'const anthropic = new Anthropic({',
    `  baseURL: "${baseUrl}",`,
    '  defaultHeaders: {',
    ownHeaders(settings, '    '),
    '  },',
    '});',
    withRun && TRACE,
    '',
    'const message = await anthropic.messages.create(',
    '  { model: "claude-haiku-4-5", max_tokens: 256, messages: [{ role: "user", content: "Say hello." }] },',
    withRun && ['  {', '    headers: {', ...stepHeaders('      '), '    },', '  },'],
    ');',
    'console.log(message.content);',
  );
  const pitfall = 'No /v1 in the base address: this SDK adds it, and would call /v1/v1/messages.';
  return { id: 'anthropic-node', label: 'Anthropic SDK, Node', language: 'js', filename: 'hello.mjs', code, pitfall };
}

function geminiNode(settings: SnippetSettings): Snippet {
  const { baseUrl, withRun } = settings;
  const code = joinLines(
    'import { GoogleGenAI } from "@google/genai";',
    '',
    'const genai = new GoogleGenAI({',
    '  apiKey: process.env.GEMINI_API_KEY,',
    '  httpOptions: {',
    `    baseUrl: "${baseUrl}",`,
    '    headers: {',
    ownHeaders(settings, '      '),
    '    },',
    '  },',
    '});',
    withRun && TRACE,
    '',
    'const answer = await genai.models.generateContent({',
    '  model: "gemini-3.5-flash",',
    '  contents: "Say hello.",',
    withRun && [
      '  config: {',
      '    httpOptions: {',
      '      headers: {',
      ...stepHeaders('        '),
      '      },',
      '    },',
      '  },',
    ],
    '});',
    'console.log(answer.text);',
  );
  const pitfall =
    'No version in the base address: this SDK adds it. Its Live API uses WebSocket, which is not relayed.';
  return { id: 'gemini-node', label: 'Google Gen AI SDK, Node', language: 'js', filename: 'hello.mjs', code, pitfall };
}

function aiSdk(settings: SnippetSettings): Snippet {
  const { baseUrl, withRun } = settings;
  const code = joinLines(
    'import { createOpenAICompatible } from "@ai-sdk/openai-compatible";',
    'import { generateText } from "ai";',
    '',
    'const openai = createOpenAICompatible({',
    '  name: "openai",',
    `  baseURL: "${baseUrl}/v1",`,
    '  apiKey: process.env.OPENAI_API_KEY,',
    '  headers: {',
    ownHeaders(settings, '    '),
    '  },',
    '});',
    withRun && TRACE,
    '',
    'const { text } = await generateText({',
    '  model: openai("gpt-5.4-mini"),',
    '  prompt: "Say hello.",',
    withRun && ['  headers: {', ...stepHeaders('    '), '  },'],
    '});',
    'console.log(text);',
  );
  const pitfall = `createOpenAI and createAnthropic take the same baseURL, with /v1; createGoogleGenerativeAI takes ${baseUrl}/v1beta. For DeepSeek, Together and Fireworks add the header X-Gateway-Provider. A model given as a string, "openai/…", goes to Vercel and not here.`;
  return { id: 'ai-sdk', label: 'Vercel AI SDK', language: 'js', filename: 'hello.mjs', code, pitfall };
}

function langchainNode(settings: SnippetSettings): Snippet {
  const { baseUrl, withRun } = settings;
  const code = joinLines(
    'import { ChatOpenAI } from "@langchain/openai";',
    '',
    'const model = new ChatOpenAI({',
    '  model: "gpt-5.4-mini",',
    '  configuration: {',
    `    baseURL: "${baseUrl}/v1",`,
    '    defaultHeaders: {',
    ownHeaders(settings, '      '),
    '    },',
    '  },',
    '});',
    withRun && TRACE,
    '',
    withRun
      ? [
          'const answer = await model.invoke("Say hello.", {',
          '  options: {',
          '    headers: {',
          ...stepHeaders('      '),
          '    },',
          '  },',
          '});',
        ]
      : 'const answer = await model.invoke("Say hello.");',
    'console.log(answer.content);',
  );
  const pitfall = `If OPENAI_API_BASE is set, it wins over OPENAI_BASE_URL. ChatAnthropic takes anthropicApiUrl: "${baseUrl}" and clientOptions.defaultHeaders, the Gemini class baseUrl and customHeaders.`;
  return { id: 'langchain-js', label: 'LangChain, JavaScript', language: 'js', filename: 'hello.mjs', code, pitfall };
}

function bedrockNode(settings: SnippetSettings): Snippet {
  const { baseUrl, withRun } = settings;
  const code = joinLines(
    'import { BedrockRuntimeClient, ConverseCommand } from "@aws-sdk/client-bedrock-runtime";',
    '',
    '// Signs in with the Bedrock API key in AWS_BEARER_TOKEN_BEDROCK.',
    'const bedrock = new BedrockRuntimeClient({',
    '  region: "us-east-1",',
    `  endpoint: "${baseUrl}",`,
    '});',
    withRun && TRACE,
    'bedrock.middlewareStack.add(',
    '  (next) => (args) => {',
    '    Object.assign(args.request.headers, {',
    ownHeaders(settings, '      '),
    withRun && stepHeaders('      '),
    '    });',
    '    return next(args);',
    '  },',
    '  { step: "finalizeRequest", priority: "low", name: "gatewayHeaders" },',
    ');',
    '',
    'const answer = await bedrock.send(',
    '  new ConverseCommand({',
    '    modelId: "us.amazon.nova-lite-v1:0",',
    '    messages: [{ role: "user", content: [{ text: "Say hello." }] }],',
    '  }),',
    ');',
    'console.log(answer.output.message.content[0].text);',
  );
  const pitfall = 'A signature covers the host, so signed requests cannot pass a gateway: use a Bedrock API key.';
  return {
    id: 'bedrock-js',
    label: 'Bedrock, AWS SDK for JavaScript',
    language: 'js',
    filename: 'hello.mjs',
    code,
    pitfall,
  };
}

export function listNodeSnippets(settings: SnippetSettings): readonly Snippet[] {
  return [openaiNode, anthropicNode, geminiNode, aiSdk, langchainNode, bedrockNode].map((write) => write(settings));
}
