/** Anthropic: the messages API, and a compatible chat API beside it. Source: docs.claude.com, API reference. */
import { readAwsHost } from './aws-host.ts';
import { readChatApiEndpoint } from './chat-api-endpoints.ts';
import { UNKNOWN_ENDPOINT } from './endpoint-row.ts';
import { readMeantService } from './meant-service.ts';
import { isMessagesRoot, readMessagesApiEndpoint } from './messages-api-endpoints.ts';
import { isAtOrBelow, readRest, readUndoubled } from './path-segment.ts';
import type { Provider, RequestLine, SnippetTemplate } from './provider.ts';

/** Other providers' prefixes: their clients send the same header there, so it tells nothing. */
const OF_OTHERS = /^(?:\/v1)?\/(?:model|anthropic|openai|inference)\//;

/** Keys of its console, and short- and long-lived ones of its platform on AWS. */
const CREDENTIAL = /^(?:sk-ant-|aws-external-anthropic-api-key-|AEAA[\w+/-]{20})/;

function isOwnClient(request: RequestLine): boolean {
  const service = readMeantService(request);
  if (service !== null) return service === 'aws-external-anthropic';
  return request.header('anthropic-version') !== undefined && !OF_OTHERS.test(request.path);
}

const SDK = /^(?:(?:Async)?Anthropic(?:Client(?:Async)?Impl)?|claude-cli|claude-code)\//;

const SNIPPETS: readonly SnippetTemplate[] = [
  {
    id: 'anthropic-python',
    label: 'Anthropic SDK, Python',
    language: 'python',
    code: `{imports}
from anthropic import Anthropic

client = Anthropic(
    base_url="{base}",
    default_headers={
        {headers}
    },
)
?{trace}

message = client.messages.create(
    model="claude-haiku-4-5",
    max_tokens=256,
    messages=[{"role": "user", "content": "Say hello."}],
?    extra_headers={
?        {run headers}
?    },
)
print(message.content)`,
    pitfall: 'No /v1 in the base address: this SDK adds it, and would call /v1/v1/messages.',
  },
  {
    id: 'anthropic-node',
    label: 'Anthropic SDK, Node',
    language: 'js',
    code: `import Anthropic from "@anthropic-ai/sdk";

const anthropic = new Anthropic({
  baseURL: "{base}",
  defaultHeaders: {
    {headers}
  },
});
?{trace}

const message = await anthropic.messages.create(
  { model: "claude-haiku-4-5", max_tokens: 256, messages: [{ role: "user", content: "Say hello." }] },
?  {
?    headers: {
?      {run headers}
?    },
?  },
);
console.log(message.content);`,
    pitfall: 'No /v1 in the base address: this SDK adds it, and would call /v1/v1/messages.',
  },
];

export const anthropic = Object.freeze({
  name: 'anthropic',
  displayName: 'Anthropic',
  catalogId: 'anthropic',
  credential: { header: 'x-api-key', prefix: '', variable: 'ANTHROPIC_API_KEY' },
  baseVariables: [
    { name: 'ANTHROPIC_BASE_URL', path: '' },
    { name: 'ANTHROPIC_API_BASE', path: '' },
  ],
  errorFamily: 'messages',
  loggedHeaders: { request: ['anthropic-beta', 'anthropic-version'], answerPrefixes: ['anthropic-ratelimit-'] },
  origin: () => 'https://api.anthropic.com',
  snippets: SNIPPETS,
  defaultRegion: null,
  ownsHost: (host) => host === 'api.anthropic.com' || readAwsHost(host)?.service === 'aws-external-anthropic',
  credentialForm: CREDENTIAL,
  isOwnClient,
  isOwnSdk: (userAgent, path) => SDK.test(userAgent) && !OF_OTHERS.test(path),
  claims: ({ path }) => isAtOrBelow(path, '/v1/messages') || isAtOrBelow(path, '/v1/complete'),
  repairPath: (path) => readUndoubled(path, '/v1') ?? (isMessagesRoot(path) ? `/v1${path}` : null),
  mapPath: (path) => path,
  endpoint: ({ method, path, query }) => {
    const rest = readRest(path, '/v1');
    if (rest === null) return UNKNOWN_ENDPOINT;
    return readMessagesApiEndpoint(method, rest) ?? readChatApiEndpoint(method, rest, query);
  },
  asksForUsage: () => false,
  probes: ['HEAD /api/hello'],
  reportsTerms: true,
  requestIdHeaders: ['request-id', 'x-request-id'],
  errorTypeHeader: null,
  signedServices: ['aws-external-anthropic'],
  region: () => null,
} as const satisfies Provider);
