// A table from its creation to its end, with gohbase:
//
//	go mod init tour && go mod tidy && go run . [QUORUM]
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/tsuna/gohbase"
	"github.com/tsuna/gohbase/hrpc"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	quorum := "localhost:2181"
	if len(os.Args) > 1 {
		quorum = os.Args[1]
	}
	ctx := context.Background()
	name := []byte("tour_go")
	admin := gohbase.NewAdminClient(quorum)
	check(admin.CreateTable(hrpc.NewCreateTable(ctx, name, map[string]map[string]string{"f": nil})))

	client := gohbase.NewClient(quorum)
	defer client.Close()
	for _, city := range []string{"Kiruna", "Lima", "Luanda"} {
		cells := map[string]map[string][]byte{"f": {"letters": fmt.Append(nil, len(city))}}
		put, err := hrpc.NewPutStr(ctx, "tour_go", city, cells)
		check(err)
		_, err = client.Put(put)
		check(err)
	}
	get, err := hrpc.NewGetStr(ctx, "tour_go", "Lima")
	check(err)
	row, err := client.Get(get)
	check(err)
	fmt.Printf("get   %s %s:%s=%s\n", row.Cells[0].Row, row.Cells[0].Family, row.Cells[0].Qualifier, row.Cells[0].Value)

	scan, err := hrpc.NewScanRangeStr(ctx, "tour_go", "L", "M")
	check(err)
	scanner := client.Scan(scan)
	for {
		row, err := scanner.Next()
		if err == io.EOF {
			break
		}
		check(err)
		fmt.Printf("scan  %s\n", row.Cells[0].Row)
	}
	check(admin.DisableTable(hrpc.NewDisableTable(ctx, name)))
	check(admin.DeleteTable(hrpc.NewDeleteTable(ctx, name)))
	fmt.Println("end")
}
