import t from 'tap'
import { fieldError, formatFieldError } from '../../../src/apimachinery/fieldErrors.ts'
import { escapedAsGo } from '../../../src/apimachinery/go/goJson.ts'
import { quotedAsGo } from '../../../src/apimachinery/go/goPrint.ts'

t.test('texts are quoted as Go quotes them', async t => {
  const rows: [text: string, quoted: string][] = [
    ['', '""'],
    ['plain text', '"plain text"'],
    ['a"b\\c', String.raw`"a\"b\\c"`],
    ['\n\t\r\v\f\b\x07', String.raw`"\n\t\r\v\f\b\a"`],
    ['\0\x1b\x7f', String.raw`"\x00\x1b\x7f"`],
    ['ä€😀', '"ä€😀"'],
    ['\u00a0\u200b\u2028', String.raw`"\u00a0\u200b\u2028"`],
    ['\u{e0001}', String.raw`"\U000e0001"`],
    ['<&>', '"<&>"'],
  ]
  for (const [text, quoted] of rows) t.equal(quotedAsGo(text), quoted)
})

t.test('JSON has escapes for HTML, quoted texts have none', async t => {
  t.equal(escapedAsGo('{"a":"<&>"}'), String.raw`{"a":"\u003c\u0026\u003e"}`)
  t.equal(formatFieldError(fieldError.invalid('f', ['<'], 'x')), String.raw`f: Invalid value: ["\u003c"]: x`)
  t.equal(formatFieldError(fieldError.invalid('f', '<\x01', 'x')), String.raw`f: Invalid value: "<\x01": x`)
})
