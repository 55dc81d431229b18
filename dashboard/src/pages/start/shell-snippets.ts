/** The snippets that need no program: variables of the environment, curl, and coding agents. */
import {
  clientHeaders,
  FEATURE,
  joinLines,
  keyVariable,
  type Snippet,
  type SnippetSettings,
  SPAN_PATH,
  shellHeaders,
} from './snippet-words.ts';

/** Several headers in one variable, a line each. */
function exportHeaders(name: string, settings: SnippetSettings): readonly string[] {
  return `export ${name}="${shellHeaders(settings).join('\n')}"`.split('\n');
}

function environment(settings: SnippetSettings): Snippet {
  const { baseUrl } = settings;
  const code = joinLines(
    `export OPENAI_BASE_URL="${baseUrl}/v1"`,
    exportHeaders('OPENAI_CUSTOM_HEADERS', settings),
    '',
    `export ANTHROPIC_BASE_URL="${baseUrl}"`,
    'export ANTHROPIC_CUSTOM_HEADERS="$OPENAI_CUSTOM_HEADERS"',
  );
  const pitfall =
    'For current OpenAI and Anthropic SDKs, whose program is not changed at all; every call of the process gets the same headers. Google’s SDKs take no headers from the environment: see theirs.';
  return { id: 'environment', label: 'Environment only', language: 'sh', filename: 'terminal', code, pitfall };
}

function curl(settings: SnippetSettings): Snippet {
  const headers = shellHeaders(settings).map((header) => `  -H "${header}" \\`);
  const code = joinLines(
    `curl "${settings.baseUrl}/v1/chat/completions" \\`,
    headers,
    '  -H "Authorization: Bearer $OPENAI_API_KEY" \\',
    '  -H "Content-Type: application/json" \\',
    `  -d '{"model":"gpt-5.4-mini","messages":[{"role":"user","content":"Say hello."}]}'`,
  );
  return { id: 'curl', label: 'curl', language: 'sh', filename: 'terminal', code, pitfall: null };
}

function claudeCode(settings: SnippetSettings): Snippet {
  const code = joinLines(
    `export ANTHROPIC_BASE_URL="${settings.baseUrl}"`,
    exportHeaders('ANTHROPIC_CUSTOM_HEADERS', settings),
    'claude',
  );
  const pitfall =
    'The headers are fixed for the process. To keep them, put both variables into env of your own settings.json, not into the one of a repository. Your login goes on to Anthropic unchanged.';
  return { id: 'claude-code', label: 'Claude Code', language: 'sh', filename: 'terminal', code, pitfall };
}

function codex(settings: SnippetSettings): Snippet {
  const { baseUrl, withMetadata, withRun } = settings;
  const variable = keyVariable(settings);
  const pair = (name: string, value: string) => `"${name}" = "${value}"`;
  const fixed = [
    ...(variable === null ? clientHeaders({ ...settings, withMetadata: false }, settings.keyPlaceholder) : []),
    ...(withMetadata ? ([['X-Gateway-Feature', FEATURE]] as const) : []),
    ...(withRun ? ([['X-Gateway-Span-Path', SPAN_PATH]] as const) : []),
  ].map(([name, value]) => pair(name, value));
  const fromEnvironment = [
    ...(variable === null ? [] : [pair('X-Gateway-Key', variable)]),
    ...(withRun ? [pair('X-Gateway-Trace-Id', 'TOLLGATE_TRACE_ID')] : []),
  ];
  const code = joinLines(
    withRun && '# Start it with: TOLLGATE_TRACE_ID="run-$(date +%s)" codex',
    'model_provider = "tollgate"',
    '',
    '[model_providers.tollgate]',
    'name = "Tollgate"',
    `base_url = "${baseUrl}/v1"`,
    'env_key = "OPENAI_API_KEY"',
    'wire_api = "responses"',
    fixed.length > 0 && `http_headers = { ${fixed.join(', ')} }`,
    fromEnvironment.length > 0 && `env_http_headers = { ${fromEnvironment.join(', ')} }`,
  );
  const pitfall =
    'This belongs into your own config.toml; a project’s file cannot set a provider. The name openai is taken. Needs an API key: a ChatGPT login takes another way.';
  return { id: 'codex', label: 'Codex', language: 'toml', filename: '~/.codex/config.toml', code, pitfall };
}

function geminiCli(settings: SnippetSettings): Snippet {
  const code = joinLines(
    `export GOOGLE_GEMINI_BASE_URL="${settings.baseUrl}"`,
    `export GEMINI_CLI_CUSTOM_HEADERS="${shellHeaders(settings).join(', ')}"`,
    'gemini',
  );
  const pitfall =
    'Keep GEMINI_API_KEY set; some versions ignore the address with a Google login. Headers are separated by commas, and the address must be https unless it is this machine.';
  return { id: 'gemini-cli', label: 'Gemini CLI', language: 'sh', filename: 'terminal', code, pitfall };
}

export function listShellSnippets(settings: SnippetSettings): readonly Snippet[] {
  return [environment, curl, claudeCode, codex, geminiCli].map((write) => write(settings));
}
