/** Files for krew: manifests whose archives match them, and hold the named files. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, symlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { buildKrew } from '../../../tools/release/krew.ts'

interface Manifest {
  metadata: { name: string }
  spec: {
    version: string
    shortDescription: string
    platforms: { selector: { matchLabels: { os: string } }; uri: string; sha256: string; bin: string }[]
  }
}

t.test('each archive is what the manifests say, and its program runs under the name that krew gives it', async t => {
  const script = 'console.log("as a script")'
  const out = t.testdir({
    // Says how it was called, as the one file looks at it.
    program: '#!/bin/sh\necho "as $(basename "$0")"\n',
    npm: {
      bin: {
        'kubectl-ws.cjs': `#!/usr/bin/env node\n${script}`,
        'kubectl-kubestellar.cjs': `#!/usr/bin/env node\n${script}`,
      },
    },
    root: {},
  })
  buildKrew({
    program: join(out, 'program'),
    packageFolder: join(out, 'npm'),
    terms: 'terms',
    out,
    url: 'https://example.org/v1.2.3',
    version: '1.2.3',
    date: new Date('2026-01-31T10:20:30Z'),
    level: 1,
  })
  for (const name of ['ws', 'kubestellar']) {
    const { metadata, spec } = parse(readFileSync(join(out, 'krew', `${name}.yaml`), 'utf8')) as Manifest
    t.strictSame([metadata.name, spec.version], [name, 'v1.2.3'])
    t.ok(spec.shortDescription.length <= 50, 'krew shows it in a table')
    t.strictSame(
      spec.platforms.map(({ selector }) => selector.matchLabels.os),
      ['linux', 'darwin', 'darwin'],
    )
    for (const [index, { uri, sha256, bin }] of spec.platforms.entries()) {
      const archive = join(out, basename(uri))
      t.equal(createHash('sha256').update(readFileSync(archive)).digest('hex'), sha256)
      const store = join(out, 'root', `${name}-${index}`)
      execFileSync('sh', ['-c', `mkdir -p ${store} && tar -xzf ${archive} -C ${store}`])
      const link = join(store, `kubectl-${name}`)
      symlinkSync(bin, link)
      const said = execFileSync(link, { encoding: 'utf8' }).trim()
      t.equal(said, bin === 'orrery' ? `as kubectl-${name}` : 'as a script')
    }
  }
})
