/** What must hold of everything that the chart renders, whatever its values are. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { readConfig } from '../../src/supervisor/settings/read-config.ts';
import { listUnknownSettings } from '../../src/supervisor/settings/unknown-settings.ts';
import type { Config } from '../../src/vocabulary/config.ts';

const Words = z.record(z.string(), z.string());
const Container = z.object({
  env: z
    .array(z.object({ name: z.string(), value: z.string().optional(), valueFrom: z.unknown().optional() }))
    .default([]),
  livenessProbe: z
    .object({ httpGet: z.object({ path: z.string() }), periodSeconds: z.number(), failureThreshold: z.number() })
    .optional(),
  readinessProbe: z.object({ httpGet: z.object({ path: z.string() }) }).optional(),
  securityContext: z.object({
    allowPrivilegeEscalation: z.literal(false),
    readOnlyRootFilesystem: z.literal(true),
    capabilities: z.object({ drop: z.tuple([z.literal('ALL')]) }),
  }),
  resources: z.object({ requests: Words, limits: Words }),
  volumeMounts: z.array(z.object({ name: z.string(), mountPath: z.string() })).default([]),
});
const PodSpec = z.object({
  automountServiceAccountToken: z.literal(false),
  enableServiceLinks: z.literal(false),
  terminationGracePeriodSeconds: z.number().default(30),
  securityContext: z.object({
    runAsNonRoot: z.literal(true),
    fsGroupChangePolicy: z.literal('OnRootMismatch'),
    seccompProfile: z.object({ type: z.literal('RuntimeDefault') }),
  }),
  containers: z.tuple([Container]),
  volumes: z.array(z.looseObject({ name: z.string() })).nullish(),
});
const Workload = z.object({
  kind: z.enum(['Deployment', 'StatefulSet']),
  metadata: z.object({ name: z.string() }),
  spec: z.object({
    replicas: z.number().optional(),
    selector: z.object({ matchLabels: Words }),
    template: z.object({ metadata: z.object({ labels: Words }), spec: PodSpec }),
    volumeClaimTemplates: z.array(z.object({ metadata: z.object({ name: z.string(), labels: Words }) })).default([]),
  }),
});
const Named = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
});
type Named = z.infer<typeof Named>;

/** The chart's own words for the end: the last records take 10 s, processes some more. */
const END_SECONDS = 25;
/** Nothing that changes from one version to the next: of a selector and of claims an upgrade may change nothing. */
const STABLE = ['app.kubernetes.io/component', 'app.kubernetes.io/instance', 'app.kubernetes.io/name'];

const VALUES_OF_SECRETS: Readonly<Record<string, string>> = {
  'database-url': 'postgresql://tollgate:secret@database:5432/tollgate',
  'admin-token': 'a'.repeat(32),
  'metrics-token': 'm'.repeat(32),
  TOLLGATE_SMTP_URL: 'smtps://gate:secret@mail.example.com:465',
  TOLLGATE_CREDENTIALS_KEY: Buffer.alloc(32, 7).toString('base64'),
};

/** The settings as the pod's gateway would read them, with a file for each secret. */
function readPodConfig(env: z.infer<typeof Container>['env']): Config {
  const dir = mkdtempSync(join(tmpdir(), 'chart-'));
  try {
    const given = env.map(({ name, value }) => {
      if (!name.endsWith('_FILE') || value === undefined) return [name, value ?? 'pod-0'];
      const key = value.replace('/etc/tollgate/secrets/', '');
      const file = join(dir, key);
      writeFileSync(file, VALUES_OF_SECRETS[key] ?? 'A'.repeat(20));
      return [name, file];
    });
    return readConfig({}, Object.fromEntries(given));
  } finally {
    rmSync(dir, { recursive: true });
  }
}

function* judgeWorkload({ kind, spec }: z.infer<typeof Workload>, scaled: ReadonlySet<string>, name: string) {
  const { template, selector, volumeClaimTemplates } = spec;
  const pod = template.spec;
  const [container] = pod.containers;
  const names = container.env.map((one) => one.name);
  const twice = names.filter((one, index) => names.indexOf(one) !== index);
  if (twice.length > 0) yield `set twice: ${twice.join(', ')}`;
  const unknown = listUnknownSettings(Object.fromEntries(names.map((one) => [one, 'x'])));
  if (unknown.length > 0) yield unknown.join('; ');

  const config = readPodConfig(container.env);
  const role = container.env.find((one) => one.name === 'TOLLGATE_ROLE')?.value;
  const drain = role === 'control' ? 0 : config.drainSeconds;
  const least = config.stopDelaySeconds + drain + END_SECONDS;
  if (pod.terminationGracePeriodSeconds !== least)
    yield `a grace of ${pod.terminationGracePeriodSeconds} s, and it may take ${least} s to stop`;
  if (container.readinessProbe?.httpGet.path !== '/readyz') yield 'no readiness probe of /readyz';
  const { livenessProbe } = container;
  if (livenessProbe !== undefined && livenessProbe.httpGet.path !== '/healthz') yield 'liveness follows readiness';
  if (livenessProbe !== undefined && livenessProbe.periodSeconds * livenessProbe.failureThreshold < 60)
    yield 'liveness is impatient';
  if (config.credentialKeys.problem !== null) yield config.credentialKeys.problem;
  const others = names.filter((one) => /^TOLLGATE_(?:ADMIN_TOKEN|OIDC_CLIENT_SECRET|SMTP_URL)_FILE$/.test(one));
  if (role === 'proxy' && others.length > 0) yield `a proxy has secrets of control: ${others.join(', ')}`;

  const volumes = new Set(
    [...(pod.volumes ?? []), ...volumeClaimTemplates.map(({ metadata }) => metadata)].map((one) => one.name),
  );
  const lacking = container.volumeMounts.filter((mount) => !volumes.has(mount.name));
  if (lacking.length > 0) yield `mounts of no volume: ${lacking.map((mount) => mount.name).join(', ')}`;
  const data = container.volumeMounts.find((mount) => mount.name === 'data');
  // A folder of its own: the root of a volume is the kubelet's, which would open files to the group again.
  if (data === undefined || !config.dataDir.startsWith(`${data.mountPath}/`)) yield 'the data lie on no volume';
  if (kind === 'Deployment' && volumeClaimTemplates.length > 0) yield 'a Deployment with claims';

  for (const labels of [selector.matchLabels, ...volumeClaimTemplates.map(({ metadata }) => metadata.labels)])
    if (Object.keys(labels).sort().join() !== STABLE.join()) yield `labels that change: ${Object.keys(labels).join()}`;
  if (Object.entries(selector.matchLabels).some(([key, value]) => template.metadata.labels[key] !== value))
    yield 'it does not select its own pods';
  if (scaled.has(name) !== (spec.replicas === undefined)) yield 'replicas and an autoscaler, or neither';
}

/** One line for each thing that is wrong. */
export function judgeRendered(documents: readonly unknown[]): string[] {
  const objects: Named[] = documents.map((document) => Named.parse(document));
  const ids = objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
  const wrong = ids.filter((id, index) => ids.indexOf(id) !== index).map((id) => `${id}: rendered twice`);
  const Scaler = z.object({ spec: z.object({ scaleTargetRef: z.object({ name: z.string() }) }) });
  const scaled = new Set(
    objects
      .filter(({ kind }) => kind === 'HorizontalPodAutoscaler')
      .map((one) => Scaler.parse(one).spec.scaleTargetRef.name),
  );
  for (const object of objects) {
    if (object.kind === 'Pod') z.object({ spec: PodSpec }).parse(object);
    if (object.kind !== 'Deployment' && object.kind !== 'StatefulSet') continue;
    const workload = Workload.parse(object);
    for (const line of judgeWorkload(workload, scaled, object.metadata.name))
      wrong.push(`${object.kind}/${object.metadata.name}: ${line}`);
  }
  return wrong;
}
