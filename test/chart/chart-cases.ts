/** What the chart is rendered with: each values file, each choice, choices that meet, and what must be refused. */

export interface ChartCase {
  readonly name: string;
  /** Arguments of `helm template`. */
  readonly args: readonly string[];
}

export interface Refusal extends ChartCase {
  /** What the line must say. */
  readonly says: string;
}

const set = (...pairs: readonly string[]): string[] => pairs.flatMap((pair) => ['--set', pair]);
const json = (...pairs: readonly string[]): string[] => pairs.flatMap((pair) => ['--set-json', pair]);

const DATABASE = set('database.existingSecret=tollgate-database');
const MODES: readonly ChartCase[] = [
  { name: 'proxies and control', args: DATABASE },
  { name: 'a StatefulSet of proxies', args: [...DATABASE, ...set('proxy.kind=StatefulSet')] },
  { name: 'spools on the nodes’ disks', args: [...DATABASE, ...set('proxy.spool.medium=node')] },
  { name: 'one pod', args: set('mode=single') },
  { name: 'one pod, another PostgreSQL', args: [...set('mode=single'), ...DATABASE] },
];

const FROM_INGRESS = json(
  'networkPolicy.controlFrom=[{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"ingress"}}}]',
);
const GATEWAY = '[{"name":"public","namespace":"gateways"}]';

const CHOICES: readonly ChartCase[] = [
  { name: 'nothing more', args: [] },
  { name: 'a fixed number of proxies', args: set('proxy.autoscaling.enabled=false', 'proxy.replicas=3') },
  { name: 'no network policy', args: set('networkPolicy.enabled=false') },
  {
    name: 'a strict network policy',
    args: json(
      'networkPolicy.proxyFrom=[{"namespaceSelector":{}},{"ipBlock":{"cidr":"10.0.0.0/8"}}]',
      'networkPolicy.databaseTo=[{"podSelector":{"matchLabels":{"cnpg.io/cluster":"log"}}}]',
      'networkPolicy.dnsTo=[{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"kube-system"}}}]',
      'networkPolicy.metricsFrom=[]',
      'networkPolicy.providerPorts=[443,8443]',
      'networkPolicy.extraEgress=[{"ports":[{"protocol":"TCP","port":3128}]}]',
    ),
  },
  {
    name: 'Ingress for both',
    args: [
      ...set('proxy.ingress.enabled=true', 'proxy.ingress.host=llm.example.com', 'proxy.ingress.tlsSecret=llm-tls'),
      ...set('proxy.ingress.className=nginx', 'control.ingress.enabled=true', 'control.ingress.host=dash.example.com'),
      ...FROM_INGRESS,
    ],
  },
  {
    name: 'HTTPRoute for both',
    args: [
      ...set('proxy.httpRoute.enabled=true', 'proxy.httpRoute.host=llm.example.com'),
      ...set('control.httpRoute.enabled=true', 'control.httpRoute.host=dash.example.com'),
      ...json(`proxy.httpRoute.parentRefs=${GATEWAY}`, `control.httpRoute.parentRefs=${GATEWAY}`),
      ...FROM_INGRESS,
    ],
  },
  {
    name: 'a balancer of the cloud',
    args: [
      ...set('proxy.service.type=LoadBalancer', 'proxy.service.externalTrafficPolicy=Local'),
      ...json('proxy.service.loadBalancerSourceRanges=["192.0.2.0/24"]', 'trustedProxies=["10.0.0.0/8","fd00::/8"]'),
    ],
  },
  { name: 'TLS of its own', args: set('proxy.tls.existingSecret=llm-tls') },
  {
    name: 'every secret',
    args: [
      ...set('adminToken.existingSecret=tollgate-admin', 'metricsToken.existingSecret=tollgate-metrics'),
      ...set('database.caSecret=database-ca', 'control.replicas=2'),
      ...set('settings.TOLLGATE_AWS_BEDROCK_EU_REGION=eu-west-1'),
      ...json(
        'secretSettings=[{"name":"TOLLGATE_AWS_BEDROCK_EU_ACCESS_KEY_ID","secret":"aws","key":"id"},{"name":"TOLLGATE_AWS_BEDROCK_EU_SECRET_ACCESS_KEY","secret":"aws","key":"secret"}]',
      ),
    ],
  },
  {
    name: 'people, alerts and kept credentials',
    args: [
      ...set('settings.TOLLGATE_OIDC_ISSUER=https://login.example.com', 'settings.TOLLGATE_OIDC_CLIENT_ID=tollgate'),
      ...set('settings.TOLLGATE_OIDC_GROUPS=leads=1:owner', 'settings.TOLLGATE_SMTP_FROM=tollgate@example.com'),
      ...set('settings.TOLLGATE_ALERT_HOSTS=hooks.internal'),
      ...json(
        'secretSettings=[{"name":"TOLLGATE_OIDC_CLIENT_SECRET","secret":"oidc","key":"secret"},{"name":"TOLLGATE_SMTP_URL","secret":"mail","key":"url"},{"name":"TOLLGATE_CREDENTIALS_KEY","secret":"credentials","key":"key"}]',
      ),
    ],
  },
  {
    name: 'settings',
    args: [
      ...set('settings.TOLLGATE_BODIES=off', 'settings.TOLLGATE_AWS_BEDROCK_EU_REGION=eu-west-1'),
      '--set-string',
      'settings.TOLLGATE_RETENTION_ROWS=365',
      '--set',
      'listen=::',
      ...set('stop.delaySeconds=30', 'stop.drainSeconds=900'),
    ],
  },
  {
    name: 'monitoring',
    args: set(
      'metricsToken.existingSecret=tollgate-metrics',
      'serviceMonitor.enabled=true',
      'prometheusRule.enabled=true',
    ),
  },
  {
    name: 'where pods run',
    args: [
      ...['proxy', 'control', 'single'].flatMap((part) => [
        ...set(`${part}.priorityClassName=high`, `${part}.nodeSelector.pool=llm`, `${part}.podLabels.team=a`),
        ...set(`${part}.podAnnotations.note=b`, `${part}.probes.liveness=false`),
        ...json(
          `${part}.tolerations=[{"key":"llm","operator":"Exists"}]`,
          `${part}.affinity={"nodeAffinity":{}}`,
          `${part}.extraEnv=[{"name":"NO_PROXY","value":".cluster.local"}]`,
          `${part}.extraVolumes=[{"name":"more","configMap":{"name":"more"}}]`,
          `${part}.extraVolumeMounts=[{"name":"more","mountPath":"/more"}]`,
        ),
      ]),
      ...json('image.pullSecrets=[{"name":"registry"}]'),
      ...set('serviceAccount.create=false', 'proxy.disruptionBudget.enabled=false'),
      ...set(`image.digest=sha256:${'0'.repeat(64)}`),
    ],
  },
  { name: 'a user of the cluster’s choice', args: set('podSecurityContext.runAsUser=null', 'fullnameOverride=gate') },
];

export const CASES: readonly ChartCase[] = [
  { name: 'values-small.yaml', args: ['--values', 'values-small.yaml'] },
  { name: 'values-large.yaml', args: ['--values', 'values-large.yaml'] },
  ...MODES.flatMap((mode) =>
    CHOICES.map(({ name, args }) => ({ name: `${mode.name}, ${name}`, args: [...mode.args, ...args] })),
  ),
];

export const REFUSALS: readonly Refusal[] = [
  { name: 'no database', args: [], says: 'database.existingSecret: name a Secret' },
  { name: 'a value that is none', args: [...DATABASE, ...set('proxy.replica=2')], says: "'replica' not allowed" },
  {
    name: 'a StatefulSet with spools on the nodes',
    args: [...DATABASE, ...set('proxy.kind=StatefulSet', 'proxy.spool.medium=node')],
    says: 'proxy.spool.medium: a StatefulSet keeps its spool in claims',
  },
  {
    name: 'two control pods with two tokens',
    args: [...DATABASE, ...set('control.replicas=2')],
    says: 'adminToken.existingSecret: several control pods need one token',
  },
  {
    name: 'more pods at least than at most',
    args: [...DATABASE, ...set('proxy.autoscaling.minReplicas=11')],
    says: 'proxy.autoscaling.maxReplicas: it is less',
  },
  {
    name: 'an Ingress without a name',
    args: [...DATABASE, ...set('proxy.ingress.enabled=true')],
    says: 'proxy.ingress.host: give the name',
  },
  {
    name: 'a route that belongs to no Gateway',
    args: [...DATABASE, ...set('proxy.httpRoute.enabled=true', 'proxy.httpRoute.host=a.example.com')],
    says: 'proxy.httpRoute.parentRefs: name the Gateway',
  },
  {
    name: 'a dashboard that nobody may reach',
    args: [...DATABASE, ...set('control.ingress.enabled=true', 'control.ingress.host=a.example.com')],
    says: 'networkPolicy.controlFrom: nobody may reach the dashboard',
  },
  {
    name: 'metrics that Prometheus may not read',
    args: [...DATABASE, ...set('serviceMonitor.enabled=true')],
    says: 'metricsToken.existingSecret: Prometheus needs a token',
  },
  {
    name: 'a setting of the chart’s own',
    args: [...DATABASE, ...set('settings.TOLLGATE_DRAIN_SECONDS=5')],
    says: 'settings.TOLLGATE_DRAIN_SECONDS: the chart sets it itself',
  },
  {
    name: 'a secret among the settings',
    args: [...DATABASE, ...set('settings.TOLLGATE_AWS_BEDROCK_EU_SECRET_ACCESS_KEY=secret')],
    says: 'settings.TOLLGATE_AWS_BEDROCK_EU_SECRET_ACCESS_KEY: it is a secret',
  },
  {
    name: 'the secret of the identity provider among the settings',
    args: [...DATABASE, ...set('settings.TOLLGATE_OIDC_CLIENT_SECRET=secret')],
    says: 'settings.TOLLGATE_OIDC_CLIENT_SECRET: it is a secret',
  },
  {
    name: 'a secret in plain sight',
    args: [...DATABASE, ...json('secretSettings=[{"name":"TOLLGATE_BODIES","secret":"a","key":"b"}]')],
    says: 'secretSettings/0/name',
  },
];
