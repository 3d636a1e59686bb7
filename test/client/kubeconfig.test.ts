import { rmSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { loadKubeconfig, splitServer } from '../../src/client/kubeconfig.ts'

const base64 = (text: string) => Buffer.from(text).toString('base64')

function file(dir: string): string {
  const server = 'https://example.com:6443'
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'c', cluster: { server: `${server}/clusters/root:a`, 'certificate-authority-data': base64('CA') } },
      { name: 'plain', cluster: { server, 'insecure-skip-tls-verify': true } },
      { name: 'files', cluster: { server, 'certificate-authority': 'folder/ca', 'tls-server-name': 'center' } },
      { name: 'open', cluster: { server: 'http://example.com' } },
      { name: 'empty', cluster: {} },
      { name: 'proxied', cluster: { server, 'proxy-url': 'http://proxy:3128' } },
      { name: 'socks', cluster: { server, 'proxy-url': 'socks5://proxy:1080' } },
    ],
    users: [
      { name: 'cert', user: { 'client-certificate-data': base64('CERT'), 'client-key-data': base64('KEY') } },
      {
        name: 'exec',
        user: {
          exec: {
            apiVersion: 'client.authentication.k8s.io/v1',
            command: process.execPath,
            args: ['-e', 'console.log(JSON.stringify({kind:"ExecCredential",status:{token:"from-exec"}}))'],
          },
        },
      },
      { name: 'file', user: { tokenFile: 'folder/token', token: 'in-the-config' } },
      {
        name: 'files',
        user: {
          'client-certificate': 'folder/cert',
          'client-certificate-data': base64('CERT'),
          'client-key': `${dir}/folder/key`,
          token: 'in-the-config',
        },
      },
      { name: 'basic', user: { username: 'u', password: 'p' } },
    ],
    contexts: [
      { name: 'root', context: { cluster: 'c', user: 'cert', namespace: 'n' } },
      { name: 'exec', context: { cluster: 'plain', user: 'exec' } },
      { name: 'file', context: { cluster: 'plain', user: 'file' } },
      { name: 'basic', context: { cluster: 'plain', user: 'basic' } },
      { name: 'files', context: { cluster: 'files', user: 'files' } },
      { name: 'nobody', context: { cluster: 'files' } },
      { name: 'open', context: { cluster: 'open', user: 'cert' } },
      { name: 'proxied', context: { cluster: 'proxied' } },
      { name: 'socks', context: { cluster: 'socks' } },
      { name: 'empty', context: { cluster: 'empty', user: 'cert' } },
      { name: 'stranger', context: { cluster: 'plain', user: 'stranger' } },
      { name: 'lost', context: { cluster: 'nowhere', user: 'cert' } },
    ],
    'current-context': 'root',
  }
  const path = `${dir}/kubeconfig`
  writeFileSync(path, JSON.stringify(config))
  return path
}

t.test('a kubeconfig becomes client options', async t => {
  const path = file(t.testdir())
  t.match(await loadKubeconfig(path), {
    options: { server: 'https://example.com:6443/clusters/root:a', caPem: 'CA', certPem: 'CERT', keyPem: 'KEY' },
    base: 'https://example.com:6443',
    space: 'root:a',
    context: 'root',
    namespace: 'n',
  })
  const { options, space } = await loadKubeconfig(path, 'exec')
  t.equal(space, undefined)
  t.equal(options.insecure, true)
  t.equal(typeof options.token === 'function' && (await options.token()), 'from-exec')
})

t.test('files are named beside the kubeconfig, and count after what stands in it', async t => {
  const path = file(t.testdir({ folder: { ca: 'CA', cert: 'OTHER', key: 'KEY' } }))
  const { options } = await loadKubeconfig(path, 'files')
  t.strictSame(options, {
    server: 'https://example.com:6443',
    caPem: 'CA',
    certPem: 'CERT',
    keyPem: 'KEY',
    token: 'in-the-config',
    tlsServerName: 'center',
  })
  const nobody = await loadKubeconfig(path, 'nobody')
  t.strictSame(nobody.options, { server: 'https://example.com:6443', caPem: 'CA', tlsServerName: 'center' })
})

t.test('the token of a tokenFile is what the file holds now', async t => {
  const dir = t.testdir({ folder: { token: 'one\n' } })
  const path = file(dir)
  const { token } = (await loadKubeconfig(path, 'file')).options
  const now = () => typeof token === 'function' && token()
  t.equal(await now(), 'one')
  writeFileSync(`${dir}/folder/token`, 'two')
  t.equal(await now(), 'two')
  writeFileSync(`${dir}/folder/token`, '')
  t.equal(await now(), 'two', 'one that is just being replaced')
  rmSync(`${dir}/folder/token`)
  t.equal(await now(), 'two')
  await t.rejects(loadKubeconfig(path, 'file'), /^tokenFile .*\/folder\/token: no token can be read: ENOENT/)
})

t.test('what is missing or not supported is said by name', async t => {
  const path = file(t.testdir())
  await t.rejects(loadKubeconfig(path, 'nope'), /no context "nope"/)
  await t.rejects(loadKubeconfig(path, 'lost'), /cluster "nowhere", which is missing/)
  await t.rejects(loadKubeconfig(path, 'stranger'), /names user "stranger", which is missing/)
  await t.rejects(loadKubeconfig(path, 'empty'), /cluster "empty" has no server/)
  await t.rejects(loadKubeconfig(path, 'open'), /cluster "open": http:.* is not encrypted: use https, or insecure-skip/)
  await t.rejects(loadKubeconfig(path, 'files'), /ENOENT.*folder\/ca/)
  await t.rejects(loadKubeconfig(path, 'basic'), /user "basic": passwords are not supported/)
  await t.rejects(loadKubeconfig(`${path}-none`), /ENOENT/)
})

t.test('the space is split off a server URL', t => {
  t.strictSame(splitServer('https://h/p/clusters/x/'), { base: 'https://h/p', space: 'x' })
  const through = 'https://h/apis/tenancy.kcp.io/v1alpha1/spaces'
  for (const [name, space] of [
    ['root:a', 'root:a'],
    ['root%3ab', 'root:b'],
  ] as const)
    t.strictSame(splitServer(`${through}/${name}/proxy`), { base: through, space }, 'through a host cluster')
  t.equal(splitServer(`${through}/root:a`).space, undefined)
  t.strictSame(splitServer('https://h:1/'), { base: 'https://h:1', space: undefined })
  t.end()
})

t.test('a proxy that a cluster names is used; one that is not spoken to is named', async t => {
  const path = file(t.testdir())
  t.equal((await loadKubeconfig(path, 'proxied')).options.proxyUrl, 'http://proxy:3128')
  await t.rejects(loadKubeconfig(path, 'socks'), /cluster "socks": proxy-url is no http:\/\/ or https:\/\/ URL/)
})
