/** Long bodies that arrive together are not handled in one turn of the loop. */
import { EventEmitter } from 'node:events'
import t from 'tap'
import { VALUES_LIMIT } from '../../../../src/apimachinery/objectSize.ts'
import { LongBodies, STEPS_BYTES } from '../../../../src/apiserver/exchange/bodies/longBodies.ts'
import type { Request } from '../../../../src/apiserver/http/request.ts'
import { LARGE_BYTES, LARGE_VALUES } from '../../../../src/apiserver/registry/largeWrites.ts'
import { Abandoned, WorkTurns } from '../../../../src/program/workTurns.ts'

const JSON_TYPE = 'application/json'
const lists = (count: number): Buffer => Buffer.from(`[${'[],'.repeat(count - 1)}[]]`)
const long = Buffer.from(JSON.stringify({ a: 'x'.repeat(LARGE_BYTES - 100) }))

interface Origin {
  contentType: string
  owner: string
  socket: object
}

/** Result of its request. */
async function read(bodies: LongBodies, body: Buffer, { contentType, owner, socket }: Origin): Promise<Request> {
  const headers = { 'content-type': contentType }
  const request = { headers, socket, authorized: { space: owner }, isLarge: false, body } as unknown as Request
  await bodies.read(request, body)
  return request
}

function bodies() {
  const coming: (() => void)[] = []
  let nowMs = 0
  const long = new LongBodies({
    work: new WorkTurns({ sliceMs: 5, clock: () => nowMs, later: turn => coming.push(turn) }),
    bigYaml: {
      wants: contentType => {
        if (contentType === 'application/apply-patch+yaml') nowMs += 20
        return contentType === 'application/yaml'
      },
      toJson: async () => ({ json: lists(LARGE_VALUES + 1), repeated: [] }),
    },
  })
  const socket = Object.assign(new EventEmitter(), { destroyed: false })
  return {
    long,
    coming,
    socket,
    read: (body: Buffer, owner = 'a', contentType = JSON_TYPE) => read(long, body, { contentType, owner, socket }),
    pass: (ms: number) => {
      nowMs += ms
    },
  }
}

t.test('after a slice the rest waits for the next turns, owners in turn', async t => {
  const { read, coming, pass } = bodies()
  const handled: string[] = []
  const handle = async (owner: string): Promise<void> => {
    await read(long, owner)
    handled.push(owner)
  }
  await handle('a')
  pass(6)
  const rest = ['a', 'a', 'b'].map(handle)
  await new Promise(setImmediate)
  t.same(handled, ['a'])
  for (const expected of [['a'], ['a', 'b'], ['a', 'b', 'a']]) {
    coming.shift()!()
    await new Promise(setImmediate)
    t.same(handled.slice(1), expected)
  }
  await Promise.all(rest)
})

t.test('others have their turn between a look whether YAML is JSON and what follows', async t => {
  const { read, coming } = bodies()
  let isRead = false
  const reading = read(long, 'a', 'application/apply-patch+yaml').then(() => {
    isRead = true
  })
  await new Promise(setImmediate)
  t.notOk(isRead)
  coming.shift()!()
  await reading
})

t.test('it is told whether they are large, as JSON and as what was YAML', async t => {
  const { read } = bodies()
  t.match(await read(Buffer.alloc(2 * LARGE_VALUES)), { isLarge: false, parsed: undefined })
  t.match(await read(long), { isLarge: false, body: long })
  t.match(await read(lists(LARGE_VALUES)), { isLarge: false })
  t.match(await read(lists(LARGE_VALUES + 1)), { isLarge: true })
  t.match(await read(Buffer.from('a: &x b\nc: *x\n'), 'b', 'application/yaml'), { isLarge: true, repeatedKeys: [] })
})

t.test('too many values are refused', async t => {
  const { read } = bodies()
  await t.rejects(read(lists(VALUES_LIMIT + 1)), /more than 100000 fields and elements/)
})

t.test('whoever has gone is not read', async t => {
  const { read, coming, pass, socket } = bodies()
  await read(long)
  pass(6)
  const ended = t.rejects(read(long), Abandoned)
  socket.destroyed = true
  coming.shift()!()
  await ended
})

t.test('long JSON is parsed a piece after the other, and others have their turn between', async t => {
  const { long: bodies, socket } = bodiesThatAreDue()
  const text = JSON.stringify({ data: Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`key${i}`, 'v'])) })
  t.ok(text.length > STEPS_BYTES)
  const { parsed, rests } = await bodies(Buffer.from(text), socket)
  t.ok(JSON.stringify(parsed?.value) === text)
  t.equal(parsed?.repeatsKeys, false)
  t.ok(rests > 10, `${rests} rests`)
  const short = await bodies(Buffer.from(JSON.stringify({ a: 'x'.repeat(STEPS_BYTES / 2) })), socket)
  t.equal(short.parsed, undefined)
  const wrong = await bodies(Buffer.from(`${text}}`), socket)
  t.equal(wrong.parsed, undefined, 'it is told where it is read')
  const protobuf = await bodies(Buffer.alloc(STEPS_BYTES + 1), socket, 'application/vnd.kubernetes.protobuf')
  t.equal(protobuf.parsed, undefined)
})

/** Each step ends a slice. */
function bodiesThatAreDue() {
  let rests = 0
  const work = {
    due: true,
    rest: async () => {
      rests++
    },
  }
  const bodies = new LongBodies({
    work: { begin: () => work },
    bigYaml: { wants: () => false, toJson: async () => ({ json: Buffer.alloc(0), repeated: [] }) },
  })
  const socket = Object.assign(new EventEmitter(), { destroyed: false })
  const readIt = async (body: Buffer, from: typeof socket, contentType = JSON_TYPE) => {
    rests = 0
    const { parsed } = await read(bodies, body, { contentType, owner: 'a', socket: from })
    return { parsed, rests }
  }
  return { long: readIt, socket }
}

t.test('what is called YAML and is long JSON is parsed once, in turns', async t => {
  const { long: due, socket } = bodiesThatAreDue()
  const text = JSON.stringify({ a: 'x'.repeat(STEPS_BYTES), b: 'y'.repeat(STEPS_BYTES) })
  const asked: string[] = []
  const bodies = new LongBodies({
    work: { begin: () => ({ due: false, rest: async () => {} }) },
    bigYaml: {
      wants: () => asked.push('wants') > 0,
      toJson: async () => ({ json: Buffer.from('{}'), repeated: [] }),
    },
  })
  const origin = { contentType: 'application/apply-patch+yaml', owner: 'a', socket }
  t.same((await read(bodies, Buffer.from(text), origin)).parsed?.value, JSON.parse(text))
  t.same(asked, [])
  t.same((await read(bodies, Buffer.from(`${text} # and more`), origin)).body?.toString(), '{}')
  t.same(asked, ['wants'], 'what only begins like it is YAML')
  t.ok((await due(Buffer.from(text), socket, origin.contentType)).rests > 0)
})
