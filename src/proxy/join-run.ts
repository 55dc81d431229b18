/** What a run token says of a call, where the call's own `X-Gateway-*` headers do not say it. */
import type { RunContext } from '../vocabulary/channel.ts';
import { addFlag, type GatewayHeaders, MAX_METADATA_KEYS } from './gateway-headers.ts';

/** Returns the headers themselves for a call with a key. */
export function joinRun(headers: GatewayHeaders, run: RunContext | undefined): GatewayHeaders {
  if (run === undefined) return headers;
  const flags = [...headers.flags];
  return {
    ...headers,
    provider: headers.provider ?? run.provider ?? undefined,
    providerAlias: headers.providerAlias ?? run.providerAlias,
    traceId: headers.traceId ?? run.traceId,
    spanPath: headers.spanPath ?? run.spanPath,
    metadata: run.metadata.length === 0 ? headers.metadata : joinMetadata(headers.metadata, run.metadata, flags),
    flags,
  };
}

function joinMetadata(
  own: GatewayHeaders['metadata'],
  ofRun: RunContext['metadata'],
  flags: GatewayHeaders['flags'][number][],
): GatewayHeaders['metadata'] {
  if (own.length === 0 && ofRun.length <= MAX_METADATA_KEYS) return ofRun;
  const said = new Set(own.map(([name]) => name.toLowerCase()));
  const added = ofRun.filter(([name]) => !said.has(name.toLowerCase()));
  const joined = [...own, ...added];
  if (joined.length <= MAX_METADATA_KEYS) return joined;
  addFlag(flags, 'metadata_cut');
  return joined.slice(0, MAX_METADATA_KEYS);
}
