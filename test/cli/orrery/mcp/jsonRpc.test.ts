/** JSON-RPC by lines: each message gets its answer, whatever stands in the lines beside it. */
import t from 'tap'
import { MAX_MESSAGE, MAX_REQUESTS, RpcError, serveRpc } from '../../../../src/cli/orrery/mcp/jsonRpc.ts'

type Handle = Parameters<typeof serveRpc>[0]['handle']

async function answersTo(chunks: readonly (string | Buffer)[], handle: Handle): Promise<Record<string, unknown>[]> {
  const answers: Record<string, unknown>[] = []
  async function* input() {
    for (const chunk of chunks) yield Buffer.from(chunk)
  }
  await serveRpc({ input: input(), send: line => void answers.push(JSON.parse(line)), handle })
  return answers
}

const echo: Handle = async (method, params) => ({ method, params })
const request = (id: number, method: string, params?: object) =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method, ...(params && { params }) })}\n`

t.test('messages are lines, wherever the pieces begin', async t => {
  const whole = Buffer.from(request(1, 'grüße', { a: 'ß' }) + request(2, 'two'))
  const pieces = [...whole].map(byte => Buffer.from([byte]))
  const expected = [
    { jsonrpc: '2.0', id: 1, result: { method: 'grüße', params: { a: 'ß' } } },
    { jsonrpc: '2.0', id: 2, result: { method: 'two', params: {} } },
  ]
  t.same(await answersTo(pieces, echo), expected)
  t.same(await answersTo(['\n\r\n', whole, '   \n'], echo), expected)
})

t.test('the last message needs no line end, and an end within one is an error', async t => {
  t.match(await answersTo([request(1, 'one'), request(2, 'two').trim()], echo), [{ id: 1 }, { id: 2 }])
  const answers = await answersTo([request(1, 'one'), '{"jsonrpc":'], echo)
  t.match(
    answers.find(({ id }) => id === 1),
    { result: { method: 'one' } },
  )
  t.match(
    answers.find(({ id }) => id === null),
    { error: { code: -32700 } },
  )
})

t.test('a message that cannot be read gets an error, and the next its answer', async t => {
  const wrong: [string, number, RegExp][] = [
    ['{"jsonrpc": nonsense', -32700, /no JSON/],
    ['[]', -32600, /one object/],
    ['7', -32600, /one object/],
    ['{"id":1,"method":"x"}', -32600, /jsonrpc: must be "2.0"/],
    ['{"jsonrpc":"2.0","id":1}', -32600, /method: must be a string/],
    ['{"jsonrpc":"2.0","id":{},"method":"x"}', -32600, /id: must be/],
    ['{"jsonrpc":"2.0","id":1,"method":"x","params":[]}', -32600, /params: must be an object/],
    ['x'.repeat(MAX_MESSAGE + 1), -32600, /more than 4194304 characters/],
  ]
  for (const [line, code, message] of wrong) {
    const answers = await answersTo([line, '\n', request(2, 'next')], echo)
    t.match(answers, [
      { id: null, error: { code, message } },
      { id: 2, result: { method: 'next' } },
    ])
  }
})

t.test('notifications and answers get none', async t => {
  const lines = [
    '{"jsonrpc":"2.0","method":"notifications/initialized"}\n',
    '{"jsonrpc":"2.0","id":9,"result":{}}\n',
    request(1, 'one'),
  ]
  t.match(await answersTo(lines, echo), { length: 1, 0: { id: 1 } })
})

t.test('errors keep their code, and others are our own', async t => {
  const answers = await answersTo([request(1, 'a'), request(2, 'b')], async method => {
    throw method === 'a' ? new RpcError('MethodNotFound', 'no such') : new Error('broken')
  })
  t.same(answers, [
    { jsonrpc: '2.0', id: 1, error: { code: -32601, message: 'no such' } },
    { jsonrpc: '2.0', id: 2, error: { code: -32603, message: 'broken' } },
  ])
})

t.test('requests under way have a bound, and the rest is refused at once', async t => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const handle: Handle = async () => await released
  const lines = Array.from({ length: MAX_REQUESTS + 1 }, (_, i) => request(i, 'slow'))
  const answers: Record<string, unknown>[] = []
  async function* input() {
    yield Buffer.from(lines.join(''))
    release()
  }
  await serveRpc({ input: input(), send: line => void answers.push(JSON.parse(line)), handle })
  t.equal(answers.length, MAX_REQUESTS + 1)
  t.match(answers[0], { id: MAX_REQUESTS, error: { code: -32000, message: /16 requests are under way/ } })
})
