/** Messages of `tools/apiextensions-peer` before it builds anything, and where it cannot. Here it has no apt but one that fails. */
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'

const TOOL = join(import.meta.dirname, '../../tools/apiextensions-peer')
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg'
const MIRROR = 'http://mirror.invalid/debian'

interface Said {
  code: number | null
  out: string
  err: string
}

function run(t: Test, args: readonly string[], assets?: string): Said {
  const apt = join(t.testdirName, 'apt')
  mkdirSync(apt, { recursive: true })
  for (const name of ['apt-cache', 'apt-config', 'dpkg-deb']) program(join(apt, name), ':')
  program(join(apt, 'apt-get'), 'echo "E: no route" >&2; exit 100')
  const { KUBEBUILDER_ASSETS: _, PATH, ...env } = process.env
  const { status, stdout, stderr } = spawnSync(TOOL, args, {
    encoding: 'utf8',
    env: { ...env, PATH: `${apt}:${PATH}`, MIRROR, ...(assets !== undefined && { KUBEBUILDER_ASSETS: assets }) },
  })
  return { code: status, out: stdout, err: stderr }
}

/** A folder with programs that say these versions. */
function assetsWith(t: Test, versions: Record<string, string>): string {
  const dir = join(t.testdir(), 'assets')
  mkdirSync(dir)
  for (const [name, version] of Object.entries(versions)) program(join(dir, name), `echo 'etcd Version: ${version}'`)
  return dir
}

function program(path: string, command: string): void {
  writeFileSync(path, `#!/bin/sh\n${command}\n`)
  chmodSync(path, 0o755)
}

t.test('it wants a folder', async t => {
  const { code, out, err } = run(t, [])
  t.equal(code, 1)
  t.equal(out, '')
  t.match(err, /usage: apiextensions-peer FOLDER \(or set KUBEBUILDER_ASSETS\)/)
})

for (const [name, etcd] of [
  ['etcd is new enough', { etcd: '3.6.0' }],
  ['a newer etcd lies beside an old one', { etcd: '3.4.23', 'etcd-3.5': '3.5.30' }],
] as const) {
  t.test(`nothing is to do where all is there: ${name}`, async t => {
    const dir = assetsWith(t, { 'apiextensions-apiserver': '', ...etcd })
    for (const said of [run(t, [dir]), run(t, [], dir)]) {
      t.equal(said.code, 0, said.err)
      t.equal(said.out, '')
      t.match(said.err, /has all of it/)
    }
  })
}

t.test('a mirror that does not answer ends it, and leaves nothing', async t => {
  const versions = { 'apiextensions-apiserver': '', etcd: '3.4.23' }
  const dir = assetsWith(t, versions)
  const { code, out, err } = run(t, [dir])
  t.equal(code, 1)
  t.equal(out, '')
  t.match(err, existsSync(KEYRING) ? `no lists of sid from ${MIRROR}` : `${KEYRING} is missing`)
  t.strictSame(readdirSync(dir).sort(), Object.keys(versions).sort())
})
