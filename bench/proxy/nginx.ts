/** nginx as the peer: its configuration, made to do what the gateway does where nginx can, and its start. */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAnswered, type Peer, readFreePort, waitFor } from './peer.ts';
import { listDescendants } from './process-figures.ts';
import { PROXY_CORE, pinned, stopChild } from './programs.ts';

export const NGINX = 'nginx';
export const NGINX_MISSING = 'nginx is not installed. On Debian or Ubuntu: apt-get install -y nginx-light';

/** nginx with what the gateway does too: kept-alive upstream, gateway headers removed, one unbuffered log line a call. */
function nginxConfig(directory: string, mockPort: number, jsonPort: number, ssePort: number): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const removed = ['Key', 'Provider', 'Trace-Id', 'Span-Path', 'Span-Name', 'Feature'];
  return `
    worker_processes 1; daemon off; pid ${directory}/nginx.pid; error_log ${directory}/error.log; worker_rlimit_nofile 20000;
    ${process.getuid?.() === 0 ? 'user root;' : ''}
    events { worker_connections 16384; multi_accept on; }
    http {
      log_format record escape=json '{"t":"$time_iso8601","msec":"$msec","time":"$request_time","status":"$status","uri":"$request_uri",'
        '"trace":"$http_x_gateway_trace_id","path":"$http_x_gateway_span_path","name":"$http_x_gateway_span_name","feature":"$http_x_gateway_feature",'
        '"ua":"$http_user_agent","type":"$content_type","in":"$request_length","bytes":"$body_bytes_sent","upstream":"$upstream_response_time","id":"$request_id"}';
      access_log ${directory}/access.log record;
      ${temporary.map((name) => `${name}_temp_path ${directory}/${name};`).join(' ')}
      client_body_buffer_size 64k; keepalive_requests 100000000; keepalive_timeout 75; tcp_nodelay on;
      proxy_http_version 1.1; proxy_set_header Connection "";
      ${removed.map((name) => `proxy_set_header X-Gateway-${name} "";`).join(' ')}
      upstream provider { server 127.0.0.1:${mockPort}; keepalive 8192; keepalive_requests 100000000; }
      server { listen 127.0.0.1:${jsonPort} backlog=8192; location / { proxy_pass http://provider; } }
      server { listen 127.0.0.1:${ssePort} backlog=8192; location / { proxy_buffering off; proxy_pass http://provider; } }
    }`;
}

export function isNginxInstalled(): boolean {
  try {
    execFileSync('nginx', ['-v'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

export async function startNginx(name: string, directory: string, mockPort: number): Promise<Peer> {
  mkdirSync(directory, { recursive: true });
  const [jsonPort, ssePort] = [await readFreePort(), await readFreePort()];
  const config = join(directory, 'nginx.conf');
  writeFileSync(config, nginxConfig(directory, mockPort, jsonPort, ssePort));
  const [command, args] = pinned(
    PROXY_CORE,
    'nginx',
    '-p',
    directory,
    '-e',
    join(directory, 'error.log'),
    '-c',
    config,
  );
  const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  await waitFor('nginx', () => isAnswered(`http://127.0.0.1:${jsonPort}/`));
  const proxyPids = listDescendants(child.pid ?? 0);
  return { name, jsonPort, ssePort, gatewayKey: 'none', proxyPids, otherPids: [], stop: () => stopChild(child) };
}
