/** LiteLLM's proxy (Python), one worker, without a database. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readFreePort } from '../proxy/peer.ts';
import { findProgram, readVersion } from './find-program.ts';
import { launch, ofOneKind, type PeerKind } from './peer-gateway.ts';

const KEY = 'sk-bench-0123456789abcdefghijklmnopqrstuvwxyz';
const { path, missing } = findProgram('TOLLGATE_BENCH_LITELLM', 'litellm');

export const LITELLM: PeerKind = {
  name: 'LiteLLM',
  missing,
  async start(directory, providerPort) {
    const port = await readFreePort();
    const file = join(directory, 'litellm.yaml');
    const upstream = {
      model: 'openai/gpt-4o-mini',
      api_base: `http://127.0.0.1:${providerPort}/v1`,
      api_key: 'sk-bench',
    };
    // As JSON, which is YAML too.
    writeFileSync(file, JSON.stringify({ model_list: [{ model_name: 'gpt-4o-mini', litellm_params: upstream }] }));
    const child = await launch({
      command: path,
      args: ['--config', file, '--host', '127.0.0.1', '--port', String(port), '--num_workers', '1'],
      directory,
      port,
      // It does not start without a key, and would fetch its prices.
      env: { LITELLM_MASTER_KEY: KEY, LITELLM_LOCAL_MODEL_COST_MAP: 'True', LITELLM_LOG: 'ERROR' },
    });
    const asked = { authorization: `Bearer ${KEY}`, headers: [] };
    return ofOneKind(child, {
      name: 'LiteLLM',
      version: readVersion(path, '--version'),
      keeps: 'nothing',
      port,
      asked,
    });
  },
};
