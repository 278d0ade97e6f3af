package audit

import "strings"

// Places in the texts of a Fix that are filled in for each finding.
const (
	placeName = "{name}"
	placeARN  = "{arn}"
	// placeDetail is what else the command needs, such as the suspended processes.
	placeDetail = "{detail}"
)

// fill writes the finding's names into a fix: quoted for a shell in the commands, plain for people elsewhere.
func (f Fix) fill(region string, of Finding) Fix {
	plain := strings.NewReplacer(placeName, of.Name, placeARN, of.ARN, placeDetail, strings.Join(of.detail, " "))
	var details []string
	for _, d := range of.detail {
		details = append(details, shellQuote(d))
	}
	arn := of.ARN
	if arn == "" {
		arn = "ARN of " + of.Name
	}
	quoted := strings.NewReplacer(placeName, shellQuote(of.Name), placeARN, shellQuote(arn), placeDetail, strings.Join(details, " "))
	lines := strings.Split(f.CLI, "\n")
	for i, line := range lines {
		command := strings.HasPrefix(line, "aws ")
		lines[i] = quoted.Replace(line)
		if command && region != "" {
			lines[i] += " --region " + shellQuote(region)
		}
	}
	return Fix{
		Console: plain.Replace(f.Console), CLI: strings.Join(lines, "\n"), CloudFormation: plain.Replace(f.CloudFormation),
		CDK: plain.Replace(f.CDK), Terraform: plain.Replace(f.Terraform),
	}
}

// shellQuote writes a word so that a POSIX shell takes it as it is.
func shellQuote(word string) string {
	const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:@%+=,-"
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
