/** Reasons in the reference of kinds are the code's, and its examples are objects that a server takes. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { kindPages, kindsOf } from '../../../tools/pages/kinds.ts'
import { startTestServer } from '../../support/server.ts'

const ROOT = join(import.meta.dirname, '../../..')
const kinds = kindsOf(join(ROOT, 'openapi/groups'))
const pages = kindPages(kinds)

t.test('a reason of a condition is one that the code gives', async t => {
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.ts'))
    .map(file => readFileSync(join(ROOT, 'src', file), 'utf8'))
    .join('\n')
  for (const [file, page] of pages)
    for (const [, reasons = ''] of page.matchAll(/^\| `(?:True|False|Unknown)`, (.*?) \|/gm))
      for (const [, reason = ''] of reasons.matchAll(/`(\w+)`/g)) {
        // a count of an EdgePlacement gives its name
        const count = `${reason[0]!.toLowerCase()}${reason.slice(1)}`
        t.ok(sources.includes(`'${reason}'`) || sources.includes(`  ${count}: {`), `${file}: ${reason}`)
      }
})

t.test('conditions of the recorded scenes are in the reference, each with its reason', async t => {
  const folder = join(ROOT, 'test/controllers/placement/scenes/recorded')
  const recorded = readdirSync(folder).map(file => readFileSync(join(folder, file), 'utf8'))
  const shown = new Set(recorded.flatMap(text => text.match(/(?<=")\w+ (?:True|False|Unknown) \w+(?= of \d+:)/g) ?? []))
  t.ok(shown.size > 40)
  const [, conditions = ''] = pages.get('edgeplacement.md')!.split('\n## Conditions\n')
  for (const one of [...shown, 'RolledOut True NotStaged']) {
    const [type = '', status = '', reason = ''] = one.split(' ')
    const [, section = ''] = conditions.split(`\n### ${type}\n`)
    const rows = section.split('\n### ')[0]!.match(/^\| `.*? \|/gm) ?? []
    // a row without a reason is for those of Placed
    t.ok(
      rows.some(row => row.includes(`\`${status}\``) && (row.includes(`\`${reason}\``) || !row.includes(','))),
      one,
    )
  }
})

t.test('a server takes each example', async t => {
  const { api } = await startTestServer(t)
  await api.post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
  for (const { spec, example } of kinds) {
    if (example === undefined) continue
    const object = parse(example) as KubeObject
    t.equal(object.kind, spec.names.kind)
    const where = object.metadata.namespace === undefined ? '' : `/namespaces/${object.metadata.namespace}`
    const path = `/apis/${object.apiVersion}${where}/${spec.names.plural}?dryRun=All&fieldValidation=Strict`
    const { code, body } = await api.post(path, object)
    // the controller that answers a preview does not run here
    t.equal(code, spec.names.kind === 'PlacementPreview' ? 503 : 201, JSON.stringify(body))
  }
})
