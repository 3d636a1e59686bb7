/** The OCI layout: whole, and the same each time. Their content runs in test/e2e/release/. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { buildImages } from '../../../tools/release/images.ts'
import { LINKS } from '../../../tools/release/links.ts'
import { lacking } from '../../support/aptPrograms.ts'

const GZIP = Buffer.from([0x1f, 0x8b])

interface Descriptor {
  digest: string
  size: number
  annotations?: Record<string, string>
}

function built(t: Test, name: string): string {
  const root = t.testdirName
  const folder = join(root, name)
  buildImages({
    // Any program will do that has libraries.
    program: '/bin/sh',
    addon: join(root, 'engine'),
    terms: 'terms',
    folder,
    version: '1.2.3',
    commit: 'c'.repeat(40),
    date: new Date('2026-01-31T10:20:30Z'),
    level: 1,
  })
  return folder
}

t.test('every digest is that of its blob, and every blob is named', async t => {
  t.testdir({ engine: 'an engine' })
  const folder = built(t, 'a')
  const named = new Set<string>()
  const read = ({ digest, size }: Descriptor): Buffer => {
    const hash = digest.replace('sha256:', '')
    named.add(hash)
    const content = readFileSync(join(folder, 'blobs/sha256', hash))
    t.equal(content.length, size)
    t.equal(createHash('sha256').update(content).digest('hex'), hash)
    return content
  }
  const json = <T>(content: Buffer): T => JSON.parse(content.toString('utf8')) as T
  t.match(json(readFileSync(join(folder, 'oci-layout'))), { imageLayoutVersion: '1.0.0' })
  const { manifests } = json<{ manifests: Descriptor[] }>(readFileSync(join(folder, 'index.json')))
  const names = manifests.map(({ annotations }) => annotations?.['org.opencontainers.image.ref.name'])
  t.strictSame(names, ['orrery:1.2.3', 'orrery-syncer:1.2.3'])
  for (const each of manifests) {
    const { config, layers } = json<{ config: Descriptor; layers: Descriptor[] }>(read(each))
    const image = json<{ config: { User: string }; rootfs: { diff_ids: string[] } }>(read(config))
    t.equal(image.config.User, '65532:65532')
    const found = layers.map(
      layer =>
        `sha256:${createHash('sha256')
          .update(gunzipSync(read(layer)))
          .digest('hex')}`,
    )
    t.strictSame(image.rootfs.diff_ids, found)
  }
  t.strictSame(readdirSync(join(folder, 'blobs/sha256')), [...named].sort(), 'nothing else is there')
})

t.test('the plugins are the program under other names', async t => {
  t.testdir({ engine: 'an engine' })
  const blobs = join(built(t, 'a'), 'blobs/sha256')
  const layers = readdirSync(blobs)
    .map(name => join(blobs, name))
    .filter(path => readFileSync(path).subarray(0, 2).equals(GZIP))
  const listed = layers.map(path => execFileSync('tar', ['-tvzf', path], { encoding: 'utf8' })).join('')
  for (const name of LINKS) t.match(listed, ` usr/local/bin/${name} -> orrery\n`)
})

t.test('made again, it is the same bytes', async t => {
  t.testdir({ engine: 'an engine' })
  const [first, again] = [built(t, 'a'), built(t, 'b')]
  t.strictSame(readFileSync(join(first, 'index.json')), readFileSync(join(again, 'index.json')))
  t.strictSame(readdirSync(join(first, 'blobs/sha256')), readdirSync(join(again, 'blobs/sha256')))
  writeFileSync(join(t.testdirName, 'engine'), 'another')
  t.notSame(readFileSync(join(built(t, 'c'), 'index.json')), readFileSync(join(first, 'index.json')))
})

const [SKOPEO, UMOCI] = ['/usr/bin/skopeo', '/usr/bin/umoci']
t.test('the tools that everybody has read it', { skip: lacking({ [SKOPEO]: 'skopeo', [UMOCI]: 'umoci' }) }, async t => {
  t.testdir({ engine: 'an engine' })
  const folder = built(t, 'a')
  for (const name of ['orrery', 'orrery-syncer']) {
    const image = `oci:${folder}:${name}:1.2.3`
    const { Os, Labels, Layers } = JSON.parse(execFileSync(SKOPEO, ['inspect', image], { encoding: 'utf8' })) as {
      Os: string
      Labels: Record<string, string>
      Layers: string[]
    }
    t.match({ Os, Labels }, { Os: 'linux', Labels: { 'org.opencontainers.image.revision': 'c'.repeat(40) } })
    t.equal(Layers.length, 2)
    // as docs/install.md has it, with a folder in place of the registry: it looks at each digest
    const copied = join(t.testdirName, `${name}-copy`)
    execFileSync(SKOPEO, ['--insecure-policy', 'copy', '--quiet', image, `dir:${copied}`])
    t.equal(readdirSync(copied).length, 5, 'manifest, version, config and layers')
    const bundle = join(t.testdirName, `${name}-bundle`)
    execFileSync(UMOCI, ['unpack', '--rootless', '--image', `${folder}:${name}:1.2.3`, bundle], { stdio: 'pipe' })
    const spec = JSON.parse(readFileSync(join(bundle, 'config.json'), 'utf8')) as { process: { args: string[] } }
    t.match(spec.process.args, ['/usr/local/bin/orrery', name === 'orrery' ? 'start' : 'syncer'])
    t.ok(readFileSync(join(bundle, 'rootfs/usr/local/bin/orrery')).equals(readFileSync('/bin/sh')))
  }
})
