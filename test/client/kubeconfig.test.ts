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
      { name: 'basic', user: { username: 'u', password: 'p' } },
    ],
    contexts: [
      { name: 'root', context: { cluster: 'c', user: 'cert', namespace: 'n' } },
      { name: 'exec', context: { cluster: 'plain', user: 'exec' } },
      { name: 'file', context: { cluster: 'plain', user: 'file' } },
      { name: 'basic', context: { cluster: 'plain', user: 'basic' } },
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
  await t.rejects(loadKubeconfig(path, 'basic'), /user "basic": passwords are not supported/)
  await t.rejects(loadKubeconfig(`${path}-none`), /ENOENT/)
})

t.test('the space is split off a server URL', t => {
  t.strictSame(splitServer('https://h/p/clusters/x/'), { base: 'https://h/p', space: 'x' })
  t.strictSame(splitServer('https://h:1/'), { base: 'https://h:1', space: undefined })
  t.end()
})
