/** Amazon Bedrock. It does not sign requests. Source: docs.aws.amazon.com, Bedrock API reference. */
import { isAwsRegion, readAwsHost, runtimeHost } from './aws-host.ts';
import { readChatApiEndpoint } from './chat-api-endpoints.ts';
import {
  countingEndpoint,
  freeEndpoint,
  meteredEndpoint,
  readFromTable,
  resourceRow,
  UNKNOWN_ENDPOINT,
  unmeteredEndpoint,
} from './endpoint-row.ts';
import { readMeantService } from './meant-service.ts';
import { isMessagesRoot, readMessagesApiEndpoint } from './messages-api-endpoints.ts';
import { decodeSegment, isAtOrBelow, readRest, readUndoubled } from './path-segment.ts';
import type { Endpoint, Provider, RequestLine, SnippetTemplate } from './provider.ts';

const DEFAULT_REGION = 'us-east-1';

const OPERATIONS: ReadonlyMap<string, Endpoint> = new Map(
  [
    { ...meteredEndpoint('converse', 'converse'), streamed: false },
    { ...meteredEndpoint('converse-stream', 'converse'), streamed: true },
    { ...meteredEndpoint('invoke', 'invoke'), streamed: false },
    { ...meteredEndpoint('invoke-with-response-stream', 'invoke'), streamed: true },
    { ...unmeteredEndpoint('invoke-with-bidirectional-stream'), streamed: true },
    countingEndpoint('count-tokens'),
  ].map((endpoint): [string, Endpoint] => [endpoint.family, Object.freeze(endpoint)]),
);

const OWN = Object.freeze({
  posts: new Map<string, Endpoint>([
    [
      '/async-invoke',
      { ...unmeteredEndpoint('async-invoke'), model: { in: 'body', names: ['modelId'] }, streamed: false },
    ],
  ]),
  resources: [
    { root: '/async-invoke', free: freeEndpoint('async-invoke'), posted: null },
    resourceRow('/guardrail', 'guardrail', 'billed'),
    resourceRow('/guardrail-checks', 'guardrail-checks', 'billed'),
  ],
});

/** The operation is the last segment: an id may contain unencoded slashes. */
const MODEL_CALL = /^\/model\/(.+)\/([a-z-]+)$/;

/** Rerankers are billed by query, which their answers do not report. */
const RERANKER = /(?:^|[./])(?:amazon|cohere)\.rerank-/;

function readModelId(path: string): string | null {
  const id = MODEL_CALL.exec(path)?.[1];
  return id === undefined ? null : decodeSegment(id);
}

function readEndpoint({ method, path, query }: RequestLine): Endpoint {
  const name = readModelId(path);
  if (name !== null) {
    const operation = path.slice(path.lastIndexOf('/') + 1);
    const endpoint = method === 'POST' ? OPERATIONS.get(operation) : undefined;
    const counts = endpoint?.format === 'invoke' && RERANKER.test(name) ? ({ countsRequest: 'queries' } as const) : {};
    return { ...(endpoint ?? UNKNOWN_ENDPOINT), ...counts, model: { in: 'path', name } };
  }
  const messages = readRest(path, '/anthropic/v1');
  if (messages !== null) return readMessagesApiEndpoint(method, messages) ?? UNKNOWN_ENDPOINT;
  const chat = readRest(path, '/openai/v1') ?? readRest(path, '/v1');
  if (chat !== null) return readChatApiEndpoint(method, chat, query);
  return readFromTable(OWN, method, path) ?? UNKNOWN_ENDPOINT;
}

const CREDENTIAL_SCOPE = /Credential=[^/,\s]+\/\d{8}\/([^/,\s]+)\//;
const ARN = /^arn:aws[a-z-]*:bedrock:([a-z0-9-]+):/;

/** From the signature's scope, the intended AWS host or the ARN; a bearer key says nothing. */
function readRegion({ path, header }: RequestLine): string | null {
  const candidates = [
    CREDENTIAL_SCOPE.exec(header('authorization') ?? '')?.[1],
    readAwsHost(header('host') ?? '')?.region,
    ARN.exec(readModelId(path) ?? '')?.[1],
  ];
  return candidates.find((candidate) => candidate !== undefined && isAwsRegion(candidate)) ?? null;
}

function originOf(region: string | null): string {
  // A region from a client's header becomes part of a host name, so only valid ones pass.
  return `https://${runtimeHost(region !== null && isAwsRegion(region) ? region : DEFAULT_REGION)}`;
}

function isOwnHost(host: string): boolean {
  const service = readAwsHost(host)?.service;
  return service === 'bedrock' || service === 'bedrock-mantle';
}

/** Long-lived and hourly keys. */
const CREDENTIAL = /^(?:bedrock-api-key-|ABSK)/;

const SDK = /^(?:Async)?AnthropicBedrock(?:Mantle)?(?:Client(?:Async)?Impl)?\/|\bapi\/bedrock/i;

/** A client that signs for AWS's host keeps that `Host` through the gateway. */
function isOwnClient(request: RequestLine): boolean {
  const service = readMeantService(request);
  return service === 'bedrock' || service === 'bedrock-mantle';
}

function mapPath(path: string, host = ''): string {
  if (isAtOrBelow(path, '/v1/messages')) return `/anthropic${path}`;
  const isChat = isAtOrBelow(path, '/v1/chat/completions') || isAtOrBelow(path, '/v1/responses');
  // This service has both bases, for different models.
  return isChat && readAwsHost(host)?.service !== 'bedrock-mantle' ? `/openai${path}` : path;
}

function repairPath(path: string): string | null {
  // An AWS client whose endpoint ends in /v1.
  if (path.startsWith('/v1/model/')) return path.slice('/v1'.length);
  if (path.startsWith('/anthropic/v1/v1/') || path.startsWith('/openai/v1/v1/')) return path.replace('/v1/v1/', '/v1/');
  const isBare = isMessagesRoot(path) || isAtOrBelow(path, '/chat/completions') || isAtOrBelow(path, '/responses');
  return readUndoubled(path, '/v1') ?? (isBare ? `/v1${path}` : null);
}

const SNIPPETS: readonly SnippetTemplate[] = [
  {
    id: 'bedrock-boto3',
    label: 'Bedrock, boto3',
    language: 'python',
    code: `{imports}
import boto3

# Signs in with the Bedrock API key in AWS_BEARER_TOKEN_BEDROCK.
bedrock = boto3.client("bedrock-runtime", region_name="us-east-1", endpoint_url="{base}")
?{trace}


def add_gateway_headers(request, **_):
    headers = {
        {headers}
?        {run headers}
    }
    for name, value in headers.items():
        request.headers[name] = value


bedrock.meta.events.register("before-send.bedrock-runtime", add_gateway_headers)

answer = bedrock.converse(
    modelId="us.amazon.nova-lite-v1:0",
    messages=[{"role": "user", "content": [{"text": "Say hello."}]}],
)
print(answer["output"]["message"]["content"][0]["text"])`,
    pitfall:
      'A signature covers the host, so signed requests cannot pass a gateway: use a Bedrock API key. Add the headers before-send; before-sign would make them a part of what is signed.',
  },
  {
    id: 'bedrock-js',
    label: 'Bedrock, AWS SDK for JavaScript',
    language: 'js',
    code: `import { BedrockRuntimeClient, ConverseCommand } from "@aws-sdk/client-bedrock-runtime";

const bedrock = new BedrockRuntimeClient({
  region: "us-east-1",
  endpoint: "{base}",
});
?{trace}
bedrock.middlewareStack.add(
  (next) => (args) => {
    Object.assign(args.request.headers, {
      {headers}
?      {run headers}
    });
    return next(args);
  },
  { step: "finalizeRequest", priority: "low", name: "gatewayHeaders" },
);

const answer = await bedrock.send(
  new ConverseCommand({
    modelId: "us.amazon.nova-lite-v1:0",
    messages: [{ role: "user", content: [{ text: "Say hello." }] }],
  }),
);
console.log(answer.output.message.content[0].text);`,
    pitfall: 'A signature covers the host, so signed requests cannot pass a gateway: use a Bedrock API key.',
  },
];

export const bedrock = Object.freeze({
  name: 'bedrock',
  displayName: 'Bedrock',
  catalogId: 'aws',
  credential: { header: 'Authorization', prefix: 'Bearer ', variable: 'AWS_BEARER_TOKEN_BEDROCK' },
  baseVariables: [
    { name: 'AWS_ENDPOINT_URL_BEDROCK_RUNTIME', path: '' },
    { name: 'AWS_BEDROCK_RUNTIME_ENDPOINT', path: '' },
    { name: 'ANTHROPIC_BEDROCK_BASE_URL', path: '' },
  ],
  errorFamily: 'aws',
  loggedHeaders: { answer: ['x-amzn-errortype', 'x-amzn-requestid'], answerPrefixes: ['x-amzn-bedrock-'] },
  // ARNs of application profiles, custom, imported and provisioned models, prompt routers.
  opaqueModelId: /^arn:/i,
  origin: originOf,
  snippets: SNIPPETS,
  defaultRegion: DEFAULT_REGION,
  ownsHost: isOwnHost,
  credentialForm: CREDENTIAL,
  isOwnClient,
  isOwnSdk: (userAgent) => SDK.test(userAgent),
  claims: ({ path }) =>
    path.startsWith('/model/') ||
    isAtOrBelow(path, '/async-invoke') ||
    isAtOrBelow(path, '/guardrail') ||
    isAtOrBelow(path, '/guardrail-checks'),
  repairPath,
  mapPath,
  endpoint: readEndpoint,
  asksForUsage: () => false,
  probes: ['GET /inference-profiles'],
  reportsTerms: true,
  termHeaders: {
    serviceTier: 'x-amzn-bedrock-service-tier',
    speed: 'x-amzn-bedrock-performanceconfig-latency',
  },
  requestIdHeaders: ['x-amzn-requestid'],
  errorTypeHeader: 'x-amzn-errortype',
  signedServices: ['bedrock', 'bedrock-mantle'],
  region: readRegion,
} as const satisfies Provider);
