/**
 * docs/security.md as it stands there: each block in its order, by the user that its comment names, prints the text below it.
 * Each test that the catalogue of attacks names exists.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startHarness } from '../cli/support.ts'
import { noKubectl } from '../e2e/support/example1.ts'
import { Terminal } from '../e2e/support/terminal.ts'
import type { Ran } from '../support/orrery.ts'
import { FILE_LIMIT_MS } from '../support/patience.ts'
import { temporaryDir } from '../support/server.ts'
import { privateFile } from './support/privateFile.ts'

const ROOT = join(import.meta.dirname, '../..')
const PAGE = readFileSync(join(ROOT, 'docs/security.md'), 'utf8')

interface Block {
  script: string
  /** Texts, in their order. */
  shown: readonly string[]
}

function blocks(): Block[] {
  return [...PAGE.matchAll(/^```sh\n(.*?)^```\n(?:```\n(.*?)^```\n)?/gms)].map(([, script = '', shown = '']) => ({
    script,
    shown: shown.split('\n').filter(line => line !== ''),
  }))
}

/** Columns are as wide as what is in them. */
function spaced(text: string): string {
  return text.replaceAll(/ +/g, ' ')
}

t.setTimeout(FILE_LIMIT_MS)
t.test('what the page says to type does what the page says', { skip: noKubectl(), timeout: FILE_LIMIT_MS }, async t => {
  const tokens = privateFile(join(temporaryDir(t), 'tokens'), 'token-of-mia,mia,u-1,"shops"\n')
  const harness = await startHarness(t, ['--token-auth-file', tokens])
  const admin = harness.kubeconfig('admin')
  const config = {
    clusters: [{ name: 'c', cluster: { server: `${harness.url}/clusters/root`, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'u', user: { token: 'token-of-mia' } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'c',
  }
  const mia = privateFile(join(harness.dir, 'mia'), JSON.stringify(config))
  const terminal = new Terminal(t, { dir: harness.dir })
  const sh = (script: string, who: string): Promise<Ran> => {
    terminal.env.KUBECONFIG = who
    return terminal.run(script)
  }
  t.match(await sh('kubectl kubestellar ensure location florin --imw root:imw1 env=prod', admin), { code: 0 })
  const all = blocks()
  t.ok(all.length > 8)
  for (const { script, shown } of all) {
    const { code, out, err } = await sh(script, script.startsWith('# mia\n') ? mia : admin)
    t.equal(code, 0, `${script}\n${out}\n${err}`)
    const printed = spaced(`${out}\n${err}`)
    let from = 0
    for (const line of shown) {
      const at = printed.indexOf(spaced(line), from)
      t.ok(at >= 0, at >= 0 ? line : `${line}\nis not, in its place, in\n${out}\n${err}`)
      if (at >= 0) from = at + spaced(line).length
    }
  }
})

t.test('tests that the catalogue names are there', async t => {
  const catalogue = readFileSync(join(import.meta.dirname, 'README.md'), 'utf8')
  const named = [...catalogue.matchAll(/`([a-z][\w-]*(?:\/[\w-]+)+)`/g)].map(match => match[1]!)
  t.ok(named.length > 50)
  for (const name of new Set(named))
    t.ok(
      ['.test.ts', ''].some(end => existsSync(join(ROOT, 'test', name + end))),
      `test/${name}`,
    )
})
