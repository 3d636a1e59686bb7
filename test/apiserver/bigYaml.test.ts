/** Large YAML means what small YAML means, and nobody waits for it but who sent it. */
import t from 'tap'
import { CONFIGMAPS, createSpace, ON_MAIN_THREAD, startTestServer } from '../support/server.ts'

const { api, faults } = await startTestServer(t, ON_MAIN_THREAD)
const YAML = { type: 'application/yaml' }
const document = (name: string, lines: number): string => {
  const data = Array.from({ length: lines }, (_, i) => `  k${i}: "v${i}" # ${i}`)
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata:\n  flag: "no"\n${data.join('\n')}\n`
}

t.test('it is read as small YAML is', async t => {
  const made = await api.ok(api.post(CONFIGMAPS, document('big', 4000), YAML))
  t.equal(Object.keys(made.data as object).length, 4001)
  t.match(made, { metadata: { name: 'big' }, data: { flag: 'no', k0: 'v0', k3999: 'v3999' } })
  const applied = await api.ok(
    api.send('PATCH', `${CONFIGMAPS}/big?fieldManager=me&force=true`, {
      type: 'application/apply-patch+yaml',
      body: document('big', 5000),
    }),
  )
  t.equal((applied.data as Record<string, string>).k4999, 'v4999')
})

t.test('what is wrong with it is said', async t => {
  const wrong = `${document('wrong', 4000)}  k1: again\n`
  const strict = await api.post(`${CONFIGMAPS}?fieldValidation=Strict`, wrong, YAML)
  t.match(strict, { code: 400, body: { reason: 'BadRequest', message: /line 4006: key "k1" already set in map/ } })
  const warned = await api.post(`${CONFIGMAPS}?dryRun=All`, wrong, YAML)
  t.match(warned, { code: 201, body: { data: { k1: 'again' } } })
  t.match(warned.headers.warning, /line 4006: key \\"k1\\" already set in map/)
  const unreadable = await api.post(CONFIGMAPS, `${document('wrong', 4000)}\t- {`, YAML)
  t.match(unreadable, { code: 400, body: { reason: 'BadRequest', message: /: yaml: line 400\d: / } })
  t.match(await api.post(CONFIGMAPS, '# nothing\n'.repeat(5000), YAML), { code: 400 })
  t.match(await api.post(CONFIGMAPS, `- a\n`.repeat(20_000), YAML), { code: 400 })
})

const members = Array.from({ length: 20_000 }, (_, i) => `k${i}: v${i}`)
for (const [form, text] of [
  ['in blocks', document('big', 20_000)],
  ['that begins like JSON', `{kind: ConfigMap, metadata: {name: big}, data: {${members.join(', ')}}}`],
] as const) {
  t.test(`others are answered while YAML ${form} is read`, async t => {
    let read = false
    const big = api.post(`${CONFIGMAPS}?dryRun=All`, text, YAML).then(answer => {
      read = true
      return answer
    })
    for (let i = 0; i < 50; i++) t.equal((await api.get('/livez')).code, 200)
    t.notOk(read, 'it takes longer than fifty other requests')
    t.equal((await big).code, 409, 'the ConfigMap is there already')
  })
}

t.test('of one space it does not delay that of another, and what takes too long is refused', async t => {
  const other = await createSpace(api, 'other')
  let read = false
  const slow = api.post(CONFIGMAPS, `x: [${'!!str a,'.repeat(360_000)}]\n`, YAML).then(answer => {
    read = true
    return answer
  })
  t.equal((await api.in(other).post(CONFIGMAPS, document('big', 1000), YAML)).code, 201)
  t.notOk(read, 'the other one is still read')
  // a fast machine reads enough of it to see how much there is
  const message =
    /^(the YAML of the request takes too much to read \(it took .+\); send it as JSON|the request body has more than 100000 )/
  t.match(await slow, { code: /^(400|413)$/, body: { message } })
})

t.test('nothing of it was a fault of the server', async t => t.strictSame(faults, []))
