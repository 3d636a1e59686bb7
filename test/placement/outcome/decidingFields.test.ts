// Fields that decide whether or how something runs: one table, which the page on placement shows.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { DECIDING_FIELDS, isDeciding } from '../../../src/placement/outcome/decidingFields.ts'

const quoted = (words: readonly string[]): string => words.map(word => `\`${word}\``).join(', ')

t.test('the page shows the table', async t => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/reference/states.md'), 'utf8')
  const rows = DECIDING_FIELDS.map(
    ({ what, of, fields }) => `| ${what} | ${of ? quoted(of) : 'any'} | ${quoted(fields)} |`,
  )
  t.ok(page.includes(`| decides | kind | fields |\n|---|---|---|\n${rows.join('\n')}\n`), rows.join('\n'))
})

t.test('by name at any depth, by kind, and in what is gone as a whole', async t => {
  const jobs = { group: 'batch', resource: 'jobs' }
  const roles = { group: 'rbac.authorization.k8s.io', resource: 'clusterroles' }
  const maps = { group: '', resource: 'configmaps' }
  const claims = { group: '', resource: 'persistentvolumeclaims' }
  const definitions = { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' }
  const own = { group: 'example.org', resource: 'tills' }
  t.ok(isDeciding(jobs, ['spec', 'suspend'], true))
  t.ok(isDeciding(own, ['spec', 'template', 'spec', 'securityContext', 'runAsNonRoot'], true))
  t.ok(isDeciding(roles, ['rules', 'verbs'], 'get'))
  t.ok(isDeciding(maps, ['data', 'x'], '1'))
  t.ok(isDeciding(claims, ['spec', 'storageClassName'], 'fast'))
  t.ok(isDeciding(own, ['spec', 'pod'], { spec: { containers: [{ image: 'x' }] } }))
  t.notOk(isDeciding(own, ['spec', 'currency'], 'CHF'))
  t.notOk(isDeciding(own, ['metadata', 'labels', 'image'], 'x'), 'keys of labels are anybody’s')
  t.notOk(isDeciding(own, ['spec', 'data', 'image'], 'x'))
  const schema = ['spec', 'versions', 'schema', 'openAPIV3Schema', 'properties', 'image']
  t.notOk(isDeciding(definitions, [...schema, 'pattern'], 'x'), 'a schema speaks of fields')
  t.notOk(isDeciding(own, ['spec', 'labels'], { image: 'x' }))
})
