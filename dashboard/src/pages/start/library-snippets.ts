/** The libraries that speak to several providers: whole programs that make one call. Plain data. */
import type { SnippetTemplate } from '../../../../src/providers/provider.ts';

export const LIBRARY_SNIPPETS: readonly SnippetTemplate[] = [
  {
    id: 'ai-sdk',
    label: 'Vercel AI SDK',
    language: 'js',
    code: `import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText } from "ai";

const openai = createOpenAICompatible({
  name: "openai",
  baseURL: "{base}/v1",
  apiKey: process.env.OPENAI_API_KEY,
  headers: {
    {headers}
  },
});
?{trace}

const { text } = await generateText({
  model: openai("gpt-5.4-mini"),
  prompt: "Say hello.",
?  headers: {
?    {run headers}
?  },
});
console.log(text);`,
    pitfall:
      'createOpenAI and createAnthropic take the same baseURL, with /v1; createGoogleGenerativeAI takes {base}/v1beta. For DeepSeek, Together and Fireworks add the header X-Gateway-Provider. A model given as a string, "openai/…", goes to Vercel and not here.',
  },
  {
    id: 'langchain-js',
    label: 'LangChain, JavaScript',
    language: 'js',
    code: `import { ChatOpenAI } from "@langchain/openai";

const model = new ChatOpenAI({
  model: "gpt-5.4-mini",
  configuration: {
    baseURL: "{base}/v1",
    defaultHeaders: {
      {headers}
    },
  },
});
?{trace}

?const answer = await model.invoke("Say hello.", {
?  options: {
?    headers: {
?      {run headers}
?    },
?  },
?});
!const answer = await model.invoke("Say hello.");
console.log(answer.content);`,
    pitfall:
      'If OPENAI_API_BASE is set, it wins over OPENAI_BASE_URL. ChatAnthropic takes anthropicApiUrl: "{base}" and clientOptions.defaultHeaders, the Gemini class baseUrl and customHeaders.',
  },
  {
    id: 'langchain-python',
    label: 'LangChain, Python',
    language: 'python',
    code: `{imports}
from langchain_openai import ChatOpenAI

model = ChatOpenAI(
    model="gpt-5.4-mini",
    base_url="{base}/v1",
    default_headers={
        {headers}
    },
)
?{trace}
?step = model.bind(
?    extra_headers={
?        {run headers}
?    },
?)

?answer = step.invoke("Say hello.")
!answer = model.invoke("Say hello.")
print(answer.content)`,
    pitfall:
      'Bind the headers of a step to the model: a chain does not hand them down. ChatAnthropic takes base_url="{base}" without /v1.',
  },
];
