/**
 * Files for Prometheus and Grafana: promtool accepts them, and the alerts come when they should. Every named metric is one of the server or
 * a syncer.
 */
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { newStageTimes } from '../../src/controllers/placement/mailboxes/copyTimings.ts'
import { PROGRAM_ROOT } from '../../src/program/programRoot.ts'
import { metricsOf, SYNCER_METRICS } from '../../src/syncer/tells/syncerStatus.ts'
import { SERVER_METRICS } from '../../tools/pages/metrics.ts'
import { sectionOf, typedIn } from '../e2e/support/typedIn.ts'
import { lacking } from '../support/aptPrograms.ts'
import { startTestServer } from '../support/server.ts'

const DEPLOY = join(PROGRAM_ROOT, 'deploy')
const PROMTOOL = '/usr/bin/promtool'
const skip = lacking({ [PROMTOOL]: 'prometheus' })

interface Rule {
  alert: string
  expr: string
  labels: { severity: string }
  annotations: { summary: string; description: string }
}
interface Panel {
  id: number
  title: string
  gridPos: { x: number; y: number; w: number; h: number }
  targets: { expr: string }[]
}
interface Dashboard {
  uid: string
  panels: Panel[]
}

const text = (...path: string[]): string => readFileSync(join(DEPLOY, ...path), 'utf8')
const rules = (parse(text('prometheus/orrery.rules.yml')) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  group => group.rules,
)
const dashboards = readdirSync(join(DEPLOY, 'grafana')).map(file => JSON.parse(text('grafana', file)) as Dashboard)
const shown = dashboards.flatMap(({ panels }) => panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)))

function promtool(...args: string[]): { code: number | null; said: string } {
  const { status, stdout, stderr } = spawnSync(PROMTOOL, args, { cwd: join(DEPLOY, 'prometheus'), encoding: 'utf8' })
  return { code: status, said: `${stdout}${stderr}` }
}

t.test('promtool has nothing against them, and the alerts come when they should', { skip }, async t => {
  for (const args of [
    ['check', 'rules', '--lint=all', 'orrery.rules.yml'],
    ['test', 'rules', 'orrery.rules.test.yml'],
    ['check', 'config', '--syntax-only', 'prometheus.yml'],
  ]) {
    const { code, said } = promtool(...args)
    t.equal(code, 0, `${args.join(' ')}: ${said}`)
  }
  const page = readFileSync(join(PROGRAM_ROOT, 'docs/watch.md'), 'utf8')
  const typed = typedIn(sectionOf(page, '## Alerts and dashboards'))
  t.ok(typed.length > 1)
  for (const command of typed) {
    const { status, stderr } = spawnSync('bash', ['-ec', command], { cwd: PROGRAM_ROOT, encoding: 'utf8' })
    t.equal(status, 0, `${command}: ${stderr}`)
  }
  // what Grafana asks, as rules: its own words stand for numbers and names
  const asked = shown.map((expr, i) => ({
    record: `panel:${i}`,
    expr: expr.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.*'),
  }))
  const file = join(t.testdir({}), 'panels.yml')
  writeFileSync(file, JSON.stringify({ groups: [{ name: 'panels', rules: asked }] }))
  const { code, said } = promtool('check', 'rules', file)
  t.equal(code, 0, said)
})

t.test('every metric that is named is told', async t => {
  const { api, server } = await startTestServer(t)
  await api.get('/version')
  // as the placement-translator does, which does not run here
  server.desks.figures.show({
    stageTimes: newStageTimes(),
    lagging: () => [],
    summaries: () => ({ readings: 0, evaluations: 0 }),
    rollouts: () => ({ Running: 0 }),
  })
  const syncer = metricsOf(
    {
      state: 'serving',
      center: 'up',
      cluster: 'up',
      protocol: 2,
      known: true,
      complete: true,
      objects: 1,
      heard: 1,
      waiting: { down: 0, status: 0, up: 0 },
      exceptions: {},
      refused: 0,
      kept: true,
    },
    { residentBytes: 1, cpuSeconds: 1 },
  )
  const told = new Map<string, string>()
  const text = `${(await api.get('/metrics')).text}\n${syncer}`
  for (const [, name, type] of text.matchAll(/^# TYPE (\S+) (\S+)$/gm)) told.set(name!, type!)
  told.set('up', 'gauge')
  for (const { name, labels } of [...SERVER_METRICS, ...SYNCER_METRICS])
    for (const [, pairs = ''] of text.matchAll(new RegExp(`^${name}(?:_bucket|_sum|_count)?{(.*)} `, 'gm')))
      for (const [, label = '', value = ''] of pairs.matchAll(/(\w+)="([^"]*)"/g)) {
        const values = label === 'le' ? [] : labels[label]
        t.ok(values && (values.length === 0 || values.includes(value)), `${name}: ${label}="${value}"`)
      }
  const own = /^orrery_|^apiserver_/
  const listed = [...SERVER_METRICS, ...SYNCER_METRICS].map(({ name }) => name).filter(name => own.test(name))
  t.same(
    listed.filter(name => !/^orrery_api_threads/.test(name)).sort(),
    [...told.keys()].filter(name => own.test(name)).sort(),
    'the reference lists them; threads do not run here',
  )
  for (const expr of [...rules.map(rule => rule.expr), ...shown]) {
    const names =
      expr.replace(/\{[^}]*\}|"[^"]*"|\b(?:by|on|without) \([^)]*\)/g, '').match(/\b(?:up\b|[a-z]+_[a-z_0-9]+)/g) ?? []
    for (const name of names.filter(name => !/^(histogram_quantile)$/.test(name))) {
      const base = name.replace(/_(bucket|sum|count)$/, '')
      const type = told.get(name) ?? told.get(base)
      t.ok(type, `${name} in ${expr}`)
      if (name.endsWith('_bucket')) t.equal(type, 'histogram', name)
      // a rate of what goes up and down says nothing; revisions only rise
      if (expr.includes(`rate(${name}`) && type === 'gauge') t.equal(name, 'orrery_store_revision')
    }
  }
})

t.test('an alert says what, and what to do', async t => {
  for (const { alert, labels, annotations } of rules) {
    t.match(alert, /^Orrery[A-Z]/)
    t.ok(['critical', 'warning', 'info'].includes(labels.severity), alert)
    t.ok(annotations.summary.length > 20 && annotations.description.length > 20, alert)
  }
  t.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length)
  const page = readFileSync(join(PROGRAM_ROOT, 'docs/watch.md'), 'utf8')
  for (const [, name = ''] of page.matchAll(/`(Orrery[A-Z]\w+)`/g))
    t.ok(
      rules.some(({ alert }) => alert === name),
      name,
    )
})

t.test('panels of a dashboard do not lie on each other', async t => {
  for (const { uid, panels } of dashboards) {
    t.equal(new Set(panels.map(({ id }) => id)).size, panels.length, uid)
    const taken = new Set<string>()
    for (const { gridPos, title } of panels)
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          if (taken.has(`${x} ${y}`) || x >= 24) t.fail(`${uid}: ${title}`)
          taken.add(`${x} ${y}`)
        }
  }
})
