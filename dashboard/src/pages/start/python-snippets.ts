/** The snippets of clients for Python: whole programs that make one call. */
import {
  clientHeaders,
  headerLines,
  joinLines,
  keyVariable,
  runHeaders,
  type Snippet,
  type SnippetSettings,
} from './snippet-words.ts';

const TRACE = 'trace_id = str(uuid.uuid4())  # the same for all calls of one run';

function keyOf(settings: SnippetSettings): string {
  const variable = keyVariable(settings);
  return variable === null ? JSON.stringify(settings.keyPlaceholder) : `os.environ[${JSON.stringify(variable)}]`;
}

/** `import` lines of the standard library that the rest needs. */
function imports(settings: SnippetSettings, always: readonly string[] = []): readonly string[] {
  const names = [...always, ...(keyVariable(settings) === null ? [] : ['os']), ...(settings.withRun ? ['uuid'] : [])];
  const lines = [...new Set(names)].sort().map((name) => `import ${name}`);
  return lines.length === 0 ? [] : [...lines, ''];
}

function ownHeaders(settings: SnippetSettings, indent: string): readonly string[] {
  return headerLines(clientHeaders(settings, keyOf(settings)), indent);
}

function stepHeaders(indent: string): readonly string[] {
  return headerLines(runHeaders('trace_id'), indent);
}

function openaiPython(settings: SnippetSettings): Snippet {
  const { baseUrl, withRun } = settings;
  const code = joinLines(
    imports(settings),
    'from openai import OpenAI',
    '',
    'client = OpenAI(',
    `    base_url="${baseUrl}/v1",`,
    '    default_headers={',
    ownHeaders(settings, '        '),
    '    },',
    ')',
    withRun && TRACE,
    '',
    'answer = client.chat.completions.create(',
    '    model="gpt-5.4-mini",',
    '    messages=[{"role": "user", "content": "Say hello."}],',
    withRun && ['    extra_headers={', ...stepHeaders('        '), '    },'],
    ')',
    'print(answer.choices[0].message.content)',
  );
  const pitfall =
    'Keep /v1 in the base address. Header values are ASCII here: percent-encode anything else. OPENAI_API_BASE is the name of old versions and is ignored.';
  return { id: 'openai-python', label: 'OpenAI SDK, Python', language: 'python', filename: 'hello.py', code, pitfall };
}

function anthropicPython(settings: SnippetSettings): Snippet {
  const { baseUrl, withRun } = settings;
  const code = joinLines(
    imports(settings),
    'from anthropic import Anthropic',
    '',
    'client = Anthropic(',
    `    base_url="${baseUrl}",`,
    '    default_headers={',
    ownHeaders(settings, '        '),
    '    },',
    ')',
    withRun && TRACE,
    '',
    'message = client.messages.create(',
    '    model="claude-haiku-4-5",',
    '    max_tokens=256,',
    '    messages=[{"role": "user", "content": "Say hello."}],',
    withRun && ['    extra_headers={', ...stepHeaders('        '), '    },'],
    ')',
    'print(message.content)',
  );
  const pitfall = 'No /v1 in the base address: this SDK adds it, and would call /v1/v1/messages.';
  return {
    id: 'anthropic-python',
    label: 'Anthropic SDK, Python',
    language: 'python',
    filename: 'hello.py',
    code,
    pitfall,
  };
}

function geminiPython(settings: SnippetSettings): Snippet {
  const { baseUrl, withRun } = settings;
  const code = joinLines(
    imports(settings, ['os']),
    'from google import genai',
    'from google.genai import types',
    '',
    'client = genai.Client(',
    '    api_key=os.environ["GEMINI_API_KEY"],',
    '    http_options=types.HttpOptions(',
    `        base_url="${baseUrl}",`,
    '        headers={',
    ownHeaders(settings, '            '),
    '        },',
    '    ),',
    ')',
    withRun && TRACE,
    '',
    'answer = client.models.generate_content(',
    '    model="gemini-3.5-flash",',
    '    contents="Say hello.",',
    withRun && [
      '    config=types.GenerateContentConfig(',
      '        http_options=types.HttpOptions(',
      '            headers={',
      ...stepHeaders('                '),
      '            },',
      '        ),',
      '    ),',
    ],
    ')',
    'print(answer.text)',
  );
  const pitfall = 'No version in the base address: this SDK adds it.';
  return {
    id: 'gemini-python',
    label: 'Google Gen AI SDK, Python',
    language: 'python',
    filename: 'hello.py',
    code,
    pitfall,
  };
}

function langchainPython(settings: SnippetSettings): Snippet {
  const { baseUrl, withRun } = settings;
  const code = joinLines(
    imports(settings),
    'from langchain_openai import ChatOpenAI',
    '',
    'model = ChatOpenAI(',
    '    model="gpt-5.4-mini",',
    `    base_url="${baseUrl}/v1",`,
    '    default_headers={',
    ownHeaders(settings, '        '),
    '    },',
    ')',
    withRun && [TRACE, 'step = model.bind(', '    extra_headers={', ...stepHeaders('        '), '    },', ')'],
    '',
    `answer = ${withRun ? 'step' : 'model'}.invoke("Say hello.")`,
    'print(answer.content)',
  );
  const pitfall = `Bind the headers of a step to the model: a chain does not hand them down. ChatAnthropic takes base_url="${baseUrl}" without /v1.`;
  return {
    id: 'langchain-python',
    label: 'LangChain, Python',
    language: 'python',
    filename: 'hello.py',
    code,
    pitfall,
  };
}

function bedrockPython(settings: SnippetSettings): Snippet {
  const { baseUrl, withRun } = settings;
  const code = joinLines(
    imports(settings),
    'import boto3',
    '',
    '# Signs in with the Bedrock API key in AWS_BEARER_TOKEN_BEDROCK.',
    `bedrock = boto3.client("bedrock-runtime", region_name="us-east-1", endpoint_url="${baseUrl}")`,
    withRun && TRACE,
    '',
    '',
    'def add_gateway_headers(request, **_):',
    '    headers = {',
    ownHeaders(settings, '        '),
    withRun && stepHeaders('        '),
    '    }',
    '    for name, value in headers.items():',
    '        request.headers[name] = value',
    '',
    '',
    'bedrock.meta.events.register("before-send.bedrock-runtime", add_gateway_headers)',
    '',
    'answer = bedrock.converse(',
    '    modelId="us.amazon.nova-lite-v1:0",',
    '    messages=[{"role": "user", "content": [{"text": "Say hello."}]}],',
    ')',
    'print(answer["output"]["message"]["content"][0]["text"])',
  );
  const pitfall =
    'A signature covers the host, so signed requests cannot pass a gateway: use a Bedrock API key. Add the headers before-send; before-sign would make them a part of what is signed.';
  return { id: 'bedrock-boto3', label: 'Bedrock, boto3', language: 'python', filename: 'hello.py', code, pitfall };
}

export function listPythonSnippets(settings: SnippetSettings): readonly Snippet[] {
  return [openaiPython, anthropicPython, geminiPython, langchainPython, bedrockPython].map((write) => write(settings));
}
