/** nginx, Caddy and HAProxy: what must be replaced in the shipped file to run it on this machine, and with which commands. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DASHBOARD_NAME, type FrontKind, type FrontPorts, GATEWAY_NAME, readShipped } from './front.ts';

const EC_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

/** Signed by itself; the clients of the tests do not look. */
function makeCertificate(dir: string): { readonly cert: string; readonly key: string; readonly both: string } {
  const [cert, key, both] = [join(dir, 'cert.pem'), join(dir, 'key.pem'), join(dir, 'both.pem')];
  const names = ['-subj', '/CN=test', '-addext', `subjectAltName=DNS:${GATEWAY_NAME},DNS:${DASHBOARD_NAME}`];
  execFileSync('openssl', ['req', '-x509', ...EC_KEY, '-days', '2', '-keyout', key, '-out', cert, ...names], {
    stdio: 'ignore',
  });
  writeFileSync(both, execFileSync('cat', [cert, key]));
  return { cert, key, both };
}

const nginx: FrontKind = {
  name: 'nginx',
  program: 'nginx',
  versionArgument: '-v',
  versions: ['HTTP/1.1', 'HTTP/2'],
  debianPackage: 'nginx-light',
  prepare: (dir, { port, nodes, dashboard }) => {
    const { cert, key } = makeCertificate(dir);
    const site = readShipped('nginx.conf', [
      ['listen 443 ssl', `listen 127.0.0.1:${port} ssl`],
      ['/etc/ssl/gateway.example.com/fullchain.pem', cert],
      ['/etc/ssl/gateway.example.com/privkey.pem', key],
      ['/var/log/nginx/tollgate.log', join(dir, 'tollgate.log')],
      ['    server 127.0.0.1:4141;', nodes.map((node) => `    server 127.0.0.1:${node};`).join('\n')],
      ['server 127.0.0.1:4142;', `server 127.0.0.1:${dashboard};`],
    ]);
    // What Debian's own nginx.conf says around it, compression of everything included.
    const config = join(dir, 'nginx.conf');
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
    const paths = temporary.map((name) => `${name}_temp_path ${dir}/${name};`).join(' ');
    writeFileSync(
      config,
      `worker_processes 2; daemon off; pid ${dir}/nginx.pid; error_log ${dir}/error.log;
      ${process.getuid?.() === 0 ? 'user root;' : ''}
      events { worker_connections 1024; }
      http { ${paths} sendfile on; tcp_nopush on; gzip on; gzip_proxied any; gzip_types *; access_log off;\n${site}}`,
    );
    const command = ['nginx', '-p', dir, '-e', join(dir, 'error.log'), '-c', config] as const;
    return { check: [...command, '-t'], run: command };
  },
};

const caddy: FrontKind = {
  name: 'Caddy',
  program: 'caddy',
  versionArgument: 'version',
  versions: ['HTTP/1.1', 'HTTP/2'],
  debianPackage: 'caddy',
  prepare: (dir, { port, nodes, dashboard }) => {
    const config = join(dir, 'Caddyfile');
    const file = readShipped('Caddyfile', [
      // Certificates of its own authority instead of those that it would ask for.
      [
        '{\n\t# A redirect',
        `{\n\tadmin off\n\tlocal_certs\n\tskip_install_trust\n\thttps_port ${port}\n\t# A redirect`,
      ],
      ['\n}\n\ngateway.example.com {', '\n}\n\ngateway.example.com {\n\tbind 127.0.0.1'],
      ['\ndashboard.gateway.example.com {', '\ndashboard.gateway.example.com {\n\tbind 127.0.0.1'],
      ['reverse_proxy 127.0.0.1:4141 ', `reverse_proxy ${nodes.map((node) => `127.0.0.1:${node}`).join(' ')} `],
      ['reverse_proxy 127.0.0.1:4142\n', `reverse_proxy 127.0.0.1:${dashboard}\n`],
    ]);
    writeFileSync(config, file);
    const source = ['--config', config, '--adapter', 'caddyfile'] as const;
    return { check: ['caddy', 'validate', ...source], run: ['caddy', 'run', ...source] };
  },
};

const haproxy: FrontKind = {
  name: 'HAProxy',
  program: 'haproxy',
  versionArgument: '-v',
  versions: ['HTTP/1.1'],
  debianPackage: 'haproxy',
  prepare: (dir, { port, nodes, dashboard }: FrontPorts) => {
    const config = join(dir, 'haproxy.cfg');
    mkdirSync(dir, { recursive: true });
    const file = readShipped('haproxy.cfg', [
      ['bind :443 ', `bind 127.0.0.1:${port} `],
      ['/etc/haproxy/certs/gateway.example.com.pem', makeCertificate(dir).both],
      [
        '    server node1 127.0.0.1:4141',
        nodes.map((node, index) => `    server node${index + 1} 127.0.0.1:${node}`).join('\n'),
      ],
      ['server dashboard 127.0.0.1:4142', `server dashboard 127.0.0.1:${dashboard}`],
    ]);
    writeFileSync(config, file);
    return { check: ['haproxy', '-c', '-f', config], run: ['haproxy', '-db', '-f', config] };
  },
};

export const FRONT_KINDS: readonly FrontKind[] = [nginx, caddy, haproxy];
