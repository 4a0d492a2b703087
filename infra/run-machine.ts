/** The state machine of a run as a resource: `machine.ts` with real functions, its role, its log. */
import { Stack } from 'aws-cdk-lib'
import { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs'
import { DefinitionBody, LogLevel, StateMachine, StateMachineType } from 'aws-cdk-lib/aws-stepfunctions'
import { Construct } from 'constructs'
import { keptLogs } from './logs.ts'
import { type MachineRoom, machineDefinition, machineRooms } from './machine.ts'

export interface RunMachineProps {
  readonly functions: Readonly<Record<MachineRoom, IFunction>>
  readonly logRetention: RetentionDays
}

export class RunMachine extends Construct {
  readonly machine: StateMachine

  constructor(scope: Construct, id: string, props: RunMachineProps) {
    super(scope, id)
    // Substitutions keep the definition in the template readable and equal to the data that the tests read.
    const placeholders = Object.fromEntries(machineRooms.map((room) => [room, `\${${room}}`]))
    const definition = machineDefinition(placeholders as Record<MachineRoom, string>, `\${partition}`)
    this.machine = new StateMachine(this, 'Machine', {
      stateMachineType: StateMachineType.STANDARD,
      definitionBody: DefinitionBody.fromString(JSON.stringify(definition)),
      definitionSubstitutions: {
        ...Object.fromEntries(machineRooms.map((room) => [room, props.functions[room].functionArn])),
        partition: Stack.of(this).partition,
      },
      tracingEnabled: true,
      logs: {
        destination: new LogGroup(this, 'Log', keptLogs(props.logRetention)),
        level: LogLevel.ERROR,
        // The input is identifiers only, but the rule holds here too: no data of a run in a log.
        includeExecutionData: false,
      },
    })
    const invoked = machineRooms.map((room) => props.functions[room].functionArn)
    this.machine.addToRolePolicy(new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: invoked }))
  }
}
