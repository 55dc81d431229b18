/**
 * The AWS SDK for Python signs the path, and with it a token in the address, and sends an API key over HTTPS only. Its
 * plugins are asked for each client: this one has it sign for AWS, and leads the call here behind the signer.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from '../../vocabulary/config.ts';
import { RUN_ADDRESS_VARIABLE, RUN_TOKEN_VARIABLE } from './clients/run-client.ts';

const MODULE = 'tollgate_run_botocore';
const PLUGINS_VARIABLE = 'BOTOCORE_EXPERIMENTAL__PLUGINS';

const PLUGIN = `"""Written by \`tollgate run\`: calls of Amazon Bedrock are signed for AWS, then led to the gateway."""

import os
import re
from urllib.parse import urlsplit

AWS_HOST = re.compile(r"bedrock-runtime(-fips)?\\.[\\w-]+\\.amazonaws\\.com(\\.cn)?")


def initialize_client_plugin(client):
    address, token = (os.environ.get(name) for name in ("${RUN_ADDRESS_VARIABLE}", "${RUN_TOKEN_VARIABLE}"))
    if not address or not token or client.meta.service_model.service_name != "bedrock-runtime":
        return
    gateway = urlsplit(address)
    region = client.meta.region_name or "us-east-1"
    aws = f"bedrock-runtime.{region}.amazonaws.com" + (".cn" if region.startswith("cn-") else "")

    def sign_for_aws(request, **_):
        url = urlsplit(request.url)
        if url.netloc == gateway.netloc and url.path.startswith(gateway.path + "/"):
            request.url = url._replace(scheme="https", netloc=aws, path=url.path[len(gateway.path) :]).geturl()

    def lead_here(request, **_):
        url = urlsplit(request.url)
        host = AWS_HOST.fullmatch(url.netloc)
        if host is None:
            return
        # The gateway reaches these under their own names only where a signature names the service.
        if host[1] and not request.headers.get("Authorization", b"")[:5] in (b"AWS4-", "AWS4-"):
            return
        request.headers["Host"] = url.netloc
        request.headers["X-Gateway-Key"] = token
        request.url = url._replace(scheme=gateway.scheme, netloc=gateway.netloc).geturl()

    client.meta.events.register_first("request-created.bedrock-runtime", sign_for_aws)
    client.meta.events.register("before-send.bedrock-runtime", lead_here)
`;

/** Variables for the program; its own plugins and folders of modules stay. */
export function addBotocorePlugin(env: Environment, ownDir: string): Readonly<Record<string, string>> {
  const folder = join(ownDir, 'python');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, `${MODULE}.py`), PLUGIN, { mode: 0o600 });
  const plugins = [env[PLUGINS_VARIABLE], `tollgate=${MODULE}`];
  const folders = [folder, env['PYTHONPATH']];
  return {
    [PLUGINS_VARIABLE]: plugins.filter((one) => one !== undefined && one !== '').join(','),
    PYTHONPATH: folders.filter((one) => one !== undefined && one !== '').join(':'),
  };
}
