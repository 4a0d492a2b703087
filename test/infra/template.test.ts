/** The resolver of CloudFormation's intrinsic functions. */
import { describe, expect, test } from 'vitest'
import { substitute, type Template, templateResolver } from '../../infra/template.ts'

const account = { partition: 'aws', region: 'us-east-1', accountId: '000000000000' }
const template: Template = {
  Resources: { Queue: { Type: 'AWS::SQS::Queue' }, Role: { Type: 'AWS::IAM::Role' }, Asker: { Type: 'Any' } },
}
const resolve = templateResolver(template, account, (logicalId) =>
  logicalId === 'Queue' ? { ref: 'https://queue', attributes: { Arn: 'arn:queue' } } : undefined,
)

describe('values that CloudFormation would resolve', () => {
  test.each([
    ['a reference', { Ref: 'Queue' }, 'https://queue'],
    ['a pseudo parameter', { Ref: 'AWS::AccountId' }, '000000000000'],
    ['an attribute', { 'Fn::GetAtt': ['Queue', 'Arn'] }, 'arn:queue'],
    ['an attribute in short', { 'Fn::GetAtt': 'Queue.Arn' }, 'arn:queue'],
    ['a join', { 'Fn::Join': ['/', ['a', { Ref: 'AWS::Region' }]] }, 'a/us-east-1'],
    ['a split', { 'Fn::Split': [':', { 'Fn::GetAtt': ['Queue', 'Arn'] }] }, ['arn', 'queue']],
    ['a selection', { 'Fn::Select': [1, { 'Fn::Split': [':', 'a:b'] }] }, 'b'],
    [
      'a substitution',
      { 'Fn::Sub': `x-\${AWS::Region}-\${Queue}-\${Queue.Arn}` },
      'x-us-east-1-https://queue-arn:queue',
    ],
    ['a substitution with variables', { 'Fn::Sub': [`\${one}`, { one: { Ref: 'AWS::Partition' } }] }, 'aws'],
    [
      'what is nested',
      { list: [{ Ref: 'Queue' }], number: 1, none: null },
      { list: ['https://queue'], number: 1, none: null },
    ],
    ['an object that only looks like one', { Reference: 'Queue' }, { Reference: 'Queue' }],
  ])('%s', (_what, value, expected) => {
    expect(resolve(value, 'Asker')).toEqual(expected)
  })

  test('a literal placeholder stays unchanged', () => {
    expect(substitute(`\${!kept} \${given}`, () => 'x')).toBe(`\${kept} x`)
  })
})

describe('an unresolvable value is an error that names its logical id', () => {
  test.each([
    ['a resource that is not there', { Ref: 'Nothing' }, /at Asker: there is no resource Nothing/],
    ['a resource without a name', { Ref: 'Role' }, /at Asker: Role is a AWS::IAM::Role, which has no name here/],
    ['an unknown attribute', { 'Fn::GetAtt': ['Queue', 'Size'] }, /at Asker: Queue has no attribute Size here/],
    ['an unknown function', { 'Fn::ImportValue': 'x' }, /at Asker: Fn::ImportValue of "x" isn't understood/],
    ['a selection beyond the end', { 'Fn::Select': [7, ['a']] }, /at Asker: Fn::Select/],
    ['a join of what is no text', { 'Fn::Join': ['', [{ key: 'value' }]] }, /at Asker: Fn::Join/],
  ])('%s', (_what, value, message) => {
    expect(() => resolve(value, 'Asker')).toThrow(message)
  })
})
